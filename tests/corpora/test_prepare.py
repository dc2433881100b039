"""Laws of preparing a text: training on it equals training on the text, and nothing is lost."""

import errno
import os
import random
import re
import signal
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.corpora import place, shard_writer
from clearformer.corpora.sizes import Sizes
from clearformer.errors import (
    ClearformerError,
    ConfigurationError,
    Interrupted,
    RunError,
    TextError,
    TokenizerError,
)
from clearformer.text import KINDS
from clearformer.training import durable
from clearformer.training.lock import RunLock
from corpora.small import SMALL, TEXT, Told, contents, made, opened, require_equal, written
from text.samples import many_examples, texts

all_kinds = pytest.mark.parametrize("kind", KINDS)


def refused(kind: type[Exception], *arguments, **options) -> str:
    """The line with which it is refused."""
    with pytest.raises(kind) as caught:
        made(*arguments, **options)
    assert isinstance(caught.value, ClearformerError)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("kind", "vocab"), [("characters", None), ("words", None), ("words", 20), ("bytepair", None)]
)
def test_the_ids_are_those_that_train_makes(tmp_path, kind, vocab):
    path = written(tmp_path)
    outcome = made(path, tmp_path / "data", tokenizer=kind, vocab=vocab)
    data = opened(tmp_path / "data")
    require_equal(data, [path], kind, vocab, "utf-8")
    assert len(data.plan.shards) >= 4
    assert (outcome.tokens, outcome.validation_tokens) == (
        len(data.train),
        len(data.validation.ids),
    )
    assert sorted(contents(tmp_path / "data")) == sorted(
        ["data.json", "lock", "tokenizer.json", *(shard.name for shard in data.plan.shards)]
    )


@all_kinds
@pytest.mark.parametrize("encoding", ["utf-16", "shift_jis", "iso2022_jp"])
def test_so_are_those_of_several_files_in_any_encoding(tmp_path, kind, encoding):
    text = TEXT.encode("shift_jis", "ignore").decode("shift_jis")
    paths = [
        written(tmp_path, text[cut:].encode(encoding), f"{cut}.txt") for cut in (0, 7, 130, 200)
    ]
    made(paths, tmp_path / "data", tokenizer=kind, encoding=encoding)
    require_equal(opened(tmp_path / "data"), paths, kind, None, encoding)


@settings(many_examples, max_examples=40)
@given(
    st.lists(texts, min_size=3, max_size=30).map("".join).filter(lambda text: len(text) > 9),
    st.sampled_from(KINDS),
    st.builds(
        Sizes, st.integers(5, 99), st.integers(1, 99), st.integers(64, 300), st.integers(5, 99)
    ),
)
def test_it_is_so_for_any_text_cut_anywhere(tmp_path_factory, text, kind, sizes):
    folder = tmp_path_factory.mktemp("any")
    path = written(folder, text.replace("\0", ""))
    try:
        made(path, folder / "data", tokenizer=kind, sizes=sizes)
    except (TextError, TokenizerError):
        assert not (folder / "data").exists()
        return
    require_equal(opened(folder / "data"), [path], kind, None, "utf-8")


@all_kinds
def test_several_processes_make_the_same_files(tmp_path, kind):
    path = written(tmp_path)
    made(path, tmp_path / "one", tokenizer=kind)
    made(path, tmp_path / "three", tokenizer=kind, workers=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


def test_a_vocabulary_that_was_pruned_is_that_of_train(tmp_path, monkeypatch):
    from clearformer.text import BytePairs, Words

    for kind, made_by, vocab in (("words", Words, 40), ("bytepair", BytePairs, 300)):
        monkeypatch.setattr(made_by, "most_pieces", 50)
        rng = random.Random(0)
        path = written(tmp_path, " ".join(f"w{rng.randint(0, 300)}" for _ in range(4000)))
        made(
            path, tmp_path / kind, tokenizer=kind, vocab=vocab, sizes=replace(SMALL, block=1 << 20)
        )
        require_equal(opened(tmp_path / kind), [path], kind, vocab, "utf-8")
    message = refused(ConfigurationError, path, tmp_path / "many", tokenizer="words")
    assert "more than 100 different words" in message
    assert not (tmp_path / "many").exists()


@all_kinds
def test_memory_does_not_grow_with_the_text(tmp_path, kind):
    sizes = Sizes(piece=1 << 12, block=1 << 12, shard=1 << 15, landmark=1 << 14)
    peaks = []
    for times in (60, 600):
        path = written(tmp_path, TEXT * times)
        tracemalloc.start()
        try:
            made(path, tmp_path / str(times), tokenizer=kind, vocab=None, sizes=sizes)
            data = opened(tmp_path / str(times))
            for start in range(0, len(data.train) - 999, 999):
                data.train[start : start + 999]
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert path.stat().st_size > 200_000
    assert peaks[1] < peaks[0] + 60_000  # landmarks and shards are counted, not their text


def test_the_progress_is_told_from_nothing_to_all(tmp_path):
    told = Told()
    made(written(tmp_path), tmp_path / "data", watch=told)
    for doing in ("reading", "encoding"):
        shares = told.shares[doing]
        assert shares == sorted(shares)
        assert (shares[0], shares[-1]) == (0, 1)
    assert told.notes == []


# Going on with what was begun.


class StopAt(Told):
    """Presses Ctrl-C when a share of some work is shown."""

    def __init__(self, doing: str, share: float) -> None:
        super().__init__()
        self.at, self.pressed = (doing, share), False

    def show(self, share: float) -> None:
        super().show(share)
        if not self.pressed and (self._doing, share) >= self.at and self._doing == self.at[0]:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("doing", "share"),
    [
        *(("reading", 0.0), ("reading", 0.5), ("making the tokenizer", 0.0)),
        *(("encoding", share) for share in (0.0, 0.25, 0.5, 0.75, 0.9)),
    ],
)
def test_who_stops_it_can_go_on(tmp_path, doing, share):
    path = written(tmp_path)
    made(path, tmp_path / "whole", tokenizer="bytepair")
    stop = StopAt(doing, share)
    with pytest.raises(Interrupted, match="start the same command again") as stopped:
        made(path, tmp_path / "data", tokenizer="bytepair", watch=stop)
    assert stopped.value.signal == signal.SIGINT
    left = contents(tmp_path / "data") if (tmp_path / "data").exists() else {}
    shards = [name for name in left if name.endswith(".ids")]
    told = Told()
    outcome = made(path, tmp_path / "data", tokenizer="bytepair", watch=told)
    assert outcome.reused == len(shards)
    if shards:
        assert f"{len(shards)} of " in str(stopped.value)
        assert told.notes == [
            f"{len(shards)} of {len(outcome.plan.shards)} shards were finished before and are kept"
        ]
    assert bool(shards) == (share > 0.2 and doing == "encoding")
    assert contents(tmp_path / "data") == contents(tmp_path / "whole")


@pytest.mark.parametrize("begun", [False, True], ids=["new", "killed before"])
def test_stopped_before_anything_is_planned_it_leaves_no_folder(tmp_path, begun):
    path, data = written(tmp_path), tmp_path / "data"
    if begun:
        data.mkdir()
        (data / "lock").touch()
    with pytest.raises(Interrupted):
        made(path, data, watch=StopAt("reading", 0.0))
    assert not data.exists()


class CutError(BaseException):
    """The power is gone."""


@pytest.mark.parametrize("number", range(1, 40, 3))
def test_whenever_it_is_cut_off_it_goes_on(tmp_path, monkeypatch, number):
    """At the n-th time that anything is synced or renamed: both sides of every such moment."""
    path = written(tmp_path)
    made(path, tmp_path / "whole")
    left = number

    def cut(function):
        def perhaps(*arguments):
            nonlocal left
            left -= 1
            if left == 0:
                raise CutError
            return function(*arguments)

        return perhaps

    with monkeypatch.context() as patch:
        for module in (durable, place, shard_writer):
            for name in ("sync", "rename", "sync_folder", "replace_file"):
                if hasattr(module, name):
                    patch.setattr(module, name, cut(getattr(durable, name)))
        with pytest.raises(CutError):
            made(path, tmp_path / "data")
    made(path, tmp_path / "data")
    assert contents(tmp_path / "data") == contents(tmp_path / "whole")


def test_a_finished_one_is_only_checked(tmp_path):
    path = written(tmp_path)
    first = made(path, tmp_path / "data")
    before = contents(tmp_path / "data")
    told = Told()
    again = made(path, tmp_path / "data", watch=told)
    assert again.reused == len(first.plan.shards)
    assert "encoding" not in told.shares
    assert contents(tmp_path / "data") == before


def damages(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


@pytest.mark.parametrize(
    "harm", [damages, Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1])]
)
def test_a_damaged_shard_is_made_again(tmp_path, harm):
    path = written(tmp_path)
    made(path, tmp_path / "data")
    before = contents(tmp_path / "data")
    harm(tmp_path / "data" / "train-00001.ids")
    told = Told()
    outcome = made(path, tmp_path / "data", watch=told)
    assert told.notes[0] == "train-00001.ids is missing or damaged and is made again"
    assert outcome.reused == len(outcome.plan.shards) - 1
    assert contents(tmp_path / "data") == before


def test_a_damaged_tokenizer_is_made_again(tmp_path):
    path = written(tmp_path)
    made(path, tmp_path / "data", tokenizer="bytepair")
    before = contents(tmp_path / "data")
    (tmp_path / "data" / "tokenizer.json").write_text("{}")
    told = Told()
    outcome = made(path, tmp_path / "data", tokenizer="bytepair", watch=told)
    assert told.notes[0] == "tokenizer.json was damaged and is made again"
    assert outcome.reused == len(outcome.plan.shards)
    assert contents(tmp_path / "data") == before


@pytest.mark.parametrize("name", ["data.json", "preparing.json"])
def test_a_plan_that_is_damaged_is_refused_with_what_would_do(tmp_path, name):
    path = written(tmp_path)
    made(path, tmp_path / "data")
    (tmp_path / "data" / "data.json").rename(tmp_path / "data" / name)
    (tmp_path / "data" / name).write_text('{"format": 1}')
    message = refused(RunError, path, tmp_path / "data")
    assert name in message
    assert f"or remove {tmp_path / 'data' / name} first" in message
    (tmp_path / "data" / name).unlink()
    made(path, tmp_path / "data")
    opened(tmp_path / "data")


def test_what_was_left_half_written_goes(tmp_path):
    path = written(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("train-00000.ids.0123abcd.tmp", "data.json.tmp", "preparing.json.tmp", "lock"):
        (tmp_path / "data" / name).write_bytes(b"half")
    made(path, tmp_path / "data")
    assert not any(name.endswith(".tmp") for name in contents(tmp_path / "data"))


# Another request.

OTHER = {
    "tokenizer": ({"tokenizer": "words"}, "--tokenizer characters, not --tokenizer words"),
    "vocabulary": ({"vocab": 99}, "no --vocab, not --vocab 99"),
    "encoding": ({"encoding": "utf-8-sig"}, "--encoding utf-8, not --encoding utf-8-sig"),
}


@pytest.mark.parametrize("options, difference", OTHER.values(), ids=OTHER)
@pytest.mark.parametrize("begun", [True, False])
def test_other_options_are_refused_naming_them(tmp_path, options, difference, begun):
    path = written(tmp_path)
    if begun:
        with pytest.raises(Interrupted):
            made(path, tmp_path / "data", watch=StopAt("encoding", 0.5))
    else:
        made(path, tmp_path / "data")
    before = contents(tmp_path / "data")
    message = refused(RunError, path, tmp_path / "data", **options)
    assert f"it has {difference}; choose another --out" in message
    assert contents(tmp_path / "data") == before


def test_another_text_is_refused_naming_the_file(tmp_path):
    path, second = written(tmp_path), written(tmp_path, "more", "second.txt")
    made(path, tmp_path / "data")
    assert "1 files of text, not 2" in refused(RunError, [path, second], tmp_path / "data")
    size = path.stat().st_size
    written(tmp_path, TEXT)
    assert f"{path} with {size:,} bytes, not " in refused(RunError, path, tmp_path / "data")
    written(tmp_path, TEXT * 5 + TEXT.replace("猫", "犬"))
    assert f"another content of {path}" in refused(RunError, path, tmp_path / "data")


def test_the_same_text_under_another_name_is_the_same(tmp_path):
    made(written(tmp_path), tmp_path / "data")
    moved = written(tmp_path, name="moved.txt")
    assert made(moved, tmp_path / "data").reused


def test_a_text_that_changes_meanwhile_is_noticed(tmp_path):
    path = written(tmp_path)

    class Change(Told):
        def begin(self, doing, size):
            super().begin(doing, size)
            if doing == "encoding":
                path.write_text(TEXT * 7, "utf-8", newline="")

    message = refused(RunError, path, tmp_path / "data", watch=Change())
    assert "was changed while it was prepared" in message
    assert not (tmp_path / "data" / "data.json").exists()


# Folders and texts that cannot be.


def test_two_at_once_are_refused_naming_the_holder(tmp_path):
    path = written(tmp_path)
    (tmp_path / "data").mkdir()
    with RunLock(tmp_path / "data", "prepare a text"):
        message = refused(RunError, path, tmp_path / "data")
        assert (tmp_path / "data" / "lock").exists()
    assert "expected to prepare a text there alone, found process" in message
    made(path, tmp_path / "data")


@pytest.mark.parametrize("name", ["run.json", "notes.txt", "train-1.ids", "folder"])
def test_a_folder_with_other_things_is_left_alone(tmp_path, name):
    path = written(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_bytes(b"mine")
    assert f"holds other files ('{name}')" in refused(RunError, path, tmp_path / "data")
    assert contents(tmp_path / "data") == {name: b"mine"}
    assert "is a file: expected a folder" in refused(RunError, path, path)


@pytest.mark.parametrize("name", ["aux", "a:b", "dot.", "DATA"])
def test_a_name_that_some_system_does_not_take_is_refused(tmp_path, name):
    path = written(tmp_path)
    (tmp_path / "data").mkdir()
    assert "cannot be made" in refused(RunError, path, tmp_path / name / "inside")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "text.txt"]


BAD_TEXTS = {
    "empty": b"",
    "blank": b" \n",
    "binary": b"text \0 text",
    "too short": b"ab",
    "damaged": TEXT.encode() * 6 + b"\xff" + TEXT.encode(),
    "cut off": (TEXT * 6 + "猫").encode()[:-1],
    "late zero": TEXT.encode() * 6 + b"\0 and more",
}


@pytest.mark.parametrize("raw", BAD_TEXTS.values(), ids=BAD_TEXTS)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_no_text_is_refused_as_train_refuses_it(tmp_path, raw, workers):
    if workers > 1 and raw != BAD_TEXTS["damaged"]:
        return
    from clearformer.models.kinds import kind_named
    from clearformer.text import read_corpus
    from clearformer.training.options import TrainingOptions
    from clearformer.training.preparation import model_for
    from clearformer.training.preparation import prepare as prepare_in_memory

    path, model = written(tmp_path, raw), model_for(kind_named("decoder"), None, {"context": 2})
    with pytest.raises(TextError) as expected:
        prepare_in_memory(
            read_corpus(path), kind="characters", vocabulary=None, model=model,
            options=TrainingOptions(), fits=lambda _: None,
        )  # fmt: skip
    assert refused(TextError, path, tmp_path / "data", workers=workers) == str(expected.value)
    assert not (tmp_path / "data").exists()


def test_options_that_cannot_be_are_refused(tmp_path):
    path = written(tmp_path)
    assert "a tokenizer is one of" in refused(
        ConfigurationError, path, tmp_path / "d", tokenizer="x"
    )
    assert "entries" in refused(
        ConfigurationError, path, tmp_path / "d", tokenizer="bytepair", vocab=5
    )
    assert "distinct characters" in refused(ConfigurationError, path, tmp_path / "d", vocab=5)
    assert "workers must be between 1 and" in refused(
        ConfigurationError, path, tmp_path / "d", workers=0
    )
    assert "no text encoding" in refused(
        ConfigurationError, path, tmp_path / "d", encoding="klingon"
    )
    assert "at least one text file" in refused(TextError, [], tmp_path / "d")
    assert "does not exist" in refused(TextError, tmp_path / "none", tmp_path / "d")
    assert not (tmp_path / "d").exists()


# Disks that refuse.


@pytest.mark.parametrize("number", [1, 2, 5, 9, 14])
def test_a_full_disk_is_told_and_gone_on_from_once_there_is_room(tmp_path, monkeypatch, number):
    """The n-th time that anything is synced."""
    path = written(tmp_path)
    made(path, tmp_path / "whole")
    left = number

    def full(*arguments):
        nonlocal left
        left -= 1
        if left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return durable_sync(*arguments)

    durable_sync = durable.sync
    with monkeypatch.context() as patch:
        for module in (durable, shard_writer):
            patch.setattr(module, "sync", full)
        message = refused(RunError, path, tmp_path / "data")
    assert re.search(r"cannot write .*: No space left on device \([\d,]+ bytes needed, ", message)
    if number > 1:  # the plan is there: what is finished is kept
        assert not any(name.endswith(".tmp") for name in contents(tmp_path / "data"))
    else:
        assert not (tmp_path / "data").exists()
    made(path, tmp_path / "data")
    assert contents(tmp_path / "data") == contents(tmp_path / "whole")
