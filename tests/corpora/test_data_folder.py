"""Laws of opening a prepared text: what is not as it was made is refused in one line."""

import json
import os
import shutil
from pathlib import Path

import pytest

from clearformer.corpora.data_folder import is_data, open_data, verify
from clearformer.errors import ClearformerError, RunError, TextError, TokenizerError
from corpora.small import TEXT, made, opened, written


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("original")
    made(written(folder, TEXT * 3), folder / "data", tokenizer="words", vocab=30)
    return folder / "data"


@pytest.fixture
def data(tmp_path, original):
    """A prepared text of words, some of which are unknown; to be damaged."""
    return Path(shutil.copytree(original, tmp_path / "data"))


def used(path):
    """Opens a prepared text and looks at all of its shards."""
    found = open_data(path)
    assert len(found.train) + len(found.validation.ids) > 0
    return found


def refusal(path, kind=TextError):
    """The line with which it is refused, whenever it is opened, used or verified."""
    with pytest.raises(kind) as caught:
        verify(used(path))
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message


def change(path, alter):
    """Alters data.json as an editor would."""
    document = json.loads((path / "data.json").read_text("utf-8"))
    alter(document)
    (path / "data.json").write_text(json.dumps(document), "utf-8")


def test_it_can_be_opened_again(data):
    found = opened(data)
    assert len(found.train) > 100
    assert found.validation.unknown_tokens > 0
    assert found.validation.spelling > 0
    assert is_data(data)


def test_what_is_none_is_refused_with_what_would_do(tmp_path):
    assert not is_data(tmp_path)
    assert not is_data(tmp_path / "a\0b")
    assert "is no prepared text: expected a folder with data.json" in refusal(tmp_path)
    assert "clearformer prepare TEXT --out" in refusal(tmp_path / "none")


def test_one_that_was_killed_while_the_text_was_read_is_not_finished(tmp_path):
    """Nothing but the lock is there; a run folder has one, too, and is no data."""
    (tmp_path / "lock").touch()
    assert is_data(tmp_path)
    assert "is not finished: prepare it with the command that was begun" in refusal(tmp_path)
    (tmp_path / "run.json").touch()
    assert not is_data(tmp_path)


def test_an_unfinished_one_is_refused(data):
    (data / "data.json").rename(data / "preparing.json")
    assert is_data(data)
    assert "is not finished: prepare it with the command that was begun" in refusal(data)


NAMES = [
    "../train-00000.ids",
    "/etc/passwd",
    "C:\\train-00000.ids",
    "sub/train-00000.ids",
    "..",
    "",
    "train-00000.ids\n",
    "train-00000.ids.tmp",
    "test-00000.ids",
    "a\0b",
    7,
    None,
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_other_name_than_that_of_a_shard_is_taken(data, name):
    change(data, lambda document: document["shards"][0].update(name=name))
    assert "data.json is damaged" in refusal(data)


def test_a_shard_twice_is_refused(data):
    change(data, lambda document: document["shards"].append(document["shards"][0]))
    assert "a shard occurs twice" in refusal(data)


@pytest.mark.parametrize(
    "alter",
    [
        lambda document: document["shards"].pop(),
        lambda document: document["shards"].pop(0),
        lambda document: document["shards"].pop(1),
        lambda document: document["shards"][1].update(begin=document["shards"][0]["end"] + 2),
        lambda document: document["shards"][1].update(begin=document["shards"][0]["end"] - 1),
        lambda document: document.update(border=document["border"] - 1),
        lambda document: document.update(characters=document["characters"] + 1),
    ],
)
def test_shards_that_do_not_cover_the_text_are_refused(data, alter):
    change(data, alter)
    assert "data.json is damaged" in refusal(data)


def test_a_newer_format_is_refused(data):
    change(data, lambda document: document.update(format=2))
    assert "has format 2, this clearformer reads up to 1; upgrade it" in refusal(data)


WRONG = [None, -1, 1.5, True, "x", [], {}, [None], {"a": 1}, 2**63, "0" * 64]


def fields():
    document = ("tokenizer", "asked", "vocabulary", "fingerprint", "encoding", "sources")
    more = ("characters", "border", "text", "notes", "shards", "format")
    shard = ("name", "begin", "end", "landmark", "tokens", "bytes", "sha256", "unknown_tokens")
    return [(name,) for name in document + more] + [
        *(("shards", 0, name) for name in (*shard, "spelled", "unknown")),
        *(("sources", 0, name) for name in ("name", "bytes", "sha256")),
        *(("shards", 0, "landmark", name) for name in ("file", "offset", "newline", "characters")),
    ]


@pytest.mark.parametrize("path", fields(), ids=lambda path: "-".join(map(str, path)))
def test_no_value_of_any_field_does_more_than_be_refused(data, path):
    """Either nothing that is used depends on it, or it is one plain error; never a traceback."""
    original = (data / "data.json").read_text("utf-8")
    for wrong in [*WRONG, "missing"]:

        def alter(document, wrong=wrong):
            for key in path[:-1]:
                document = document[key]
            if wrong == "missing":
                del document[path[-1]]
            else:
                document[path[-1]] = wrong

        (data / "data.json").write_text(original, "utf-8")
        change(data, alter)
        try:
            used(data)
        except ClearformerError as fault:
            assert len(str(fault).splitlines()) == 1
        else:
            assert wrong != "missing"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"format": NaN}', b"{}" * 2])
def test_what_is_no_json_is_refused(data, content):
    (data / "data.json").write_bytes(content)
    assert "data.json" in refusal(data)


def test_a_tokenizer_that_is_not_its_own_is_refused(data, tmp_path):
    made(written(tmp_path, TEXT), tmp_path / "other")
    shutil.copy(tmp_path / "other" / "tokenizer.json", data / "tokenizer.json")
    assert "tokenizer.json is not the tokenizer of the shards" in refusal(data)
    (data / "tokenizer.json").unlink()
    refusal(data, TokenizerError)


def test_so_is_one_of_the_same_size(data, tmp_path):
    """It would give other words for every id."""
    other = written(tmp_path, TEXT.replace("First", "Third") * 3)
    made(other, tmp_path / "other", tokenizer="words", vocab=30)
    theirs = open_data(tmp_path / "other").tokenizer
    assert theirs.vocabulary_size == open_data(data).tokenizer.vocabulary_size
    shutil.copy(tmp_path / "other" / "tokenizer.json", data / "tokenizer.json")
    assert "tokenizer.json is not the tokenizer of the shards" in refusal(data)


def test_a_vocabulary_beyond_the_type_is_refused(data):
    change(data, lambda document: document.update(vocabulary=70_000))
    assert "has not the size of" in refusal(data)


def test_a_shard_of_another_text_is_refused(data, tmp_path):
    """Size and header may be the same; the digest is not."""
    other = written(tmp_path, TEXT.replace("First", "Third") * 3, "other.txt")
    made(other, tmp_path / "other", tokenizer="words", vocab=30)
    shutil.copy(tmp_path / "other" / "train-00000.ids", data / "train-00000.ids")
    assert "train-00000.ids" in refusal(data)


def test_every_bit_of_a_shard_is_verified(data):
    path = data / "train-00001.ids"
    raw = bytearray(path.read_bytes())
    for byte in range(64, len(raw), 7):
        changed = raw.copy()
        changed[byte] ^= 1
        path.write_bytes(changed)
        message = refusal(data)
        assert "train-00001.ids is missing or damaged: its SHA-256 is not" in message


def test_a_shard_that_is_cut_off_is_refused_when_it_is_opened(data):
    path = data / "train-00001.ids"
    path.write_bytes(path.read_bytes()[:-1])
    found = open_data(data)
    with pytest.raises(TextError, match=r"train-00001\.ids is damaged: expected [\d,]+ bytes"):
        assert found.train
    assert found.validation


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
@pytest.mark.parametrize(
    ("name", "kind"),
    [("data.json", TextError), ("tokenizer.json", TokenizerError), ("train-00000.ids", TextError)],
)
def test_a_pipe_in_the_place_of_a_file_is_never_waited_for(data, name, kind):
    (data / name).unlink()
    os.mkfifo(data / name)
    assert "pipe or a device" in refusal(data, kind)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
def test_nor_is_a_pipe_in_the_place_of_a_plan(data):
    (data / "data.json").unlink()
    os.mkfifo(data / "preparing.json")
    with pytest.raises(RunError, match="pipe or a device"):
        made(written(data.parent), data)
