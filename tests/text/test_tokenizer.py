"""Laws that every kind of tokenizer obeys, and the file it is kept in."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text import (
    KINDS,
    Tokenizer,
    build_tokenizer,
    load_tokenizer,
    save_tokenizer,
)
from text.samples import ENGLISH, JAPANESE, kinds, many_examples, raw_texts, real_text, texts

each_kind = pytest.mark.parametrize("kind", KINDS)


@many_examples
@given(kinds, texts.filter(bool))
def test_decoding_gives_back_the_text(kind: str, text: str) -> None:
    tokenizer = build_tokenizer(kind, text)
    assert tokenizer.unknown(text) == {}
    assert tokenizer.decode(tokenizer.encode(text)) == text


@many_examples
@given(kinds, texts, raw_texts)
def test_no_text_is_too_strange(kind: str, learned: str, text: str) -> None:
    tokenizer = build_tokenizer(kind, "ab" + learned)
    ids = tokenizer.encode(text)
    assert ids.ndim == 1
    assert all(0 <= id < tokenizer.vocabulary_size for id in ids.tolist())
    assert all(
        piece in text and text.count(piece) >= count > 0
        for piece, count in tokenizer.unknown(text).items()
    )
    tokenizer.decode(ids).encode("utf-8")


@many_examples
@given(kinds, texts, texts)
def test_text_is_unknown_exactly_if_it_does_not_come_back(
    kind: str, learned: str, text: str
) -> None:
    tokenizer = build_tokenizer(kind, "ab" + learned)
    comes_back = tokenizer.decode(tokenizer.encode(text)) == text
    assert comes_back == (not tokenizer.unknown(text))


@each_kind
@pytest.mark.parametrize("name", ["tiny-shakespeare.txt", "soseki-cat.txt"])
def test_whole_books_come_back(kind: str, name: str) -> None:
    text = real_text(name)
    tokenizer = build_tokenizer(kind, text)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    if kind == "bytepair":
        assert tokenizer.vocabulary_size == 2048
        assert len(ids) < 0.4 * len(text.encode("utf-8"))


@each_kind
def test_the_empty_text_has_no_ids(kind: str) -> None:
    tokenizer = build_tokenizer(kind, "a b")
    assert tokenizer.encode("").shape == (0,)
    assert tokenizer.decode([]) == tokenizer.decode(np.zeros(0, np.uint8)) == ""
    assert tokenizer.unknown("") == {}


@each_kind
def test_bytes_and_joints_together_are_the_text(kind: str) -> None:
    tokenizer = build_tokenizer(kind, ENGLISH + JAPANESE)
    ids = tokenizer.encode(ENGLISH + JAPANESE).tolist()
    joints = ["", *map(tokenizer.joint, ids, ids[1:])]
    raw = b"".join(
        joint.encode() + tokenizer.token_bytes(id) for joint, id in zip(joints, ids, strict=True)
    )
    assert raw.decode() == ENGLISH + JAPANESE


@each_kind
def test_every_token_can_be_shown(kind: str) -> None:
    tokenizer = build_tokenizer(kind, ENGLISH + JAPANESE)
    shown = [tokenizer.token_text(id) for id in range(tokenizer.vocabulary_size)]
    assert all(shown)
    assert "".join(shown).encode("utf-8")


@each_kind
@pytest.mark.parametrize(
    "ids",
    [
        *([-1], [10**6], [0, -1], [2**64], [0, -(2**70)]),
        *map(np.array, ([0.0, 0.5], [True], [[0]], 0, ["a"], [None])),
    ],
    ids=repr,
)
def test_ids_out_of_range_are_refused(kind: str, ids: Sequence[int] | np.ndarray) -> None:
    with pytest.raises(TokenizerError):
        build_tokenizer(kind, "a b").decode(ids)


@each_kind
@pytest.mark.parametrize("id", [-1, 10**6])
def test_a_token_out_of_range_is_refused(kind: str, id: int) -> None:
    tokenizer = build_tokenizer(kind, "a b")
    for ask in (tokenizer.token_text, tokenizer.token_bytes, lambda id: tokenizer.joint(0, id)):
        if kind == "words" or ask in (tokenizer.token_text, tokenizer.token_bytes):
            with pytest.raises(TokenizerError, match=str(id)):
                ask(id)


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(256, np.uint8), (257, np.uint16), (65_536, np.uint16), (65_537, np.uint32)],
)
def test_ids_take_the_narrowest_type_that_holds_them_all(size: int, dtype: type) -> None:
    characters = [chr(0x10000 + number) for number in range(size)]
    tokenizer = build_tokenizer("characters", "".join(characters))
    ids = tokenizer.encode("".join(characters))
    assert ids.dtype == dtype
    assert ids.tolist() == list(range(size))


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"characters, words, bytepair; got 'letters'"):
        build_tokenizer("letters", "a")


@each_kind
def test_an_empty_text_makes_no_tokenizer(kind: str) -> None:
    with pytest.raises(TokenizerError, match="empty"):
        build_tokenizer(kind, "")


@pytest.mark.parametrize(
    ("kind", "vocabulary"),
    [
        *(("characters", 2), ("characters", -1), ("words", 2), ("words", -5)),
        *(("bytepair", 255), ("bytepair", 0), ("bytepair", 10**12)),
    ],
)
def test_an_impossible_vocabulary_is_refused(kind: str, vocabulary: int) -> None:
    with pytest.raises(ConfigurationError, match="vocabulary"):
        build_tokenizer(kind, "abc def", vocabulary)


@each_kind
def test_the_vocabulary_is_a_limit(kind: str) -> None:
    for limit in (300, 400, 1_000_000):
        tokenizer = build_tokenizer(kind, ENGLISH + JAPANESE, limit)
        assert tokenizer.vocabulary_size <= limit


# The file.


@many_examples
@given(kinds, raw_texts.filter(bool))
def test_a_tokenizer_survives_its_file(
    tmp_path_factory: pytest.TempPathFactory, kind: str, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "tokenizer.json"
    tokenizer = build_tokenizer(kind, "a b" + text)
    save_tokenizer(tokenizer, path)
    loaded = load_tokenizer(path)
    assert loaded.kind == kind
    assert loaded.fingerprint == tokenizer.fingerprint
    assert np.array_equal(loaded.encode(text), tokenizer.encode(text))


@each_kind
def test_other_vocabularies_have_other_fingerprints(kind: str) -> None:
    one, other = (build_tokenizer(kind, text) for text in ("abcabc abc", "abdabd abd"))
    assert one.fingerprint != other.fingerprint
    assert len({build_tokenizer(each, "a").fingerprint for each in KINDS}) == len(KINDS)


@each_kind
def test_every_process_makes_the_same_tokenizer(kind: str) -> None:
    script = (
        "import sys; from clearformer.text import build_tokenizer;"
        "print(build_tokenizer(sys.argv[1], sys.argv[2]).fingerprint)"
    )
    here = build_tokenizer(kind, ENGLISH + JAPANESE).fingerprint
    for seed in ("1", "2"):
        found = subprocess.run(
            [sys.executable, "-c", script, kind, ENGLISH + JAPANESE],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert found.stdout.strip() == here
        assert found.stderr == ""


def document(**changed: object) -> dict[str, object]:
    return {"format": "clearformer tokenizer", "version": 1} | changed


BAD_DOCUMENTS = [
    [],
    "text",
    None,
    {},
    {"format": "other", "version": 1, "kind": "characters", "characters": "ab"},
    document(kind="characters"),
    document(kind="characters", characters="ab", version=2),
    document(kind="characters", characters="ab", version=True),
    document(kind="characters", characters="ab", version="1"),
    document(kind="characters", characters="ab", more=1),
    document(kind="characters", characters=""),
    document(kind="characters", characters="ba"),
    document(kind="characters", characters="aa"),
    document(kind="characters", characters=["a"]),
    document(kind="characters", characters="a\ud800"),
    document(kind="letters", characters="ab"),
    document(kind=["words"], words=["a"]),
    document(kind=None, words=["a"]),
    document(kind="words", words=[]),
    document(kind="words", words="ab"),
    document(kind="words", words=["a", 1]),
    document(kind="words", words=["a", "a"]),
    document(kind="words", words=["a", "<unk>"]),
    document(kind="words", words=["a", ""]),
    document(kind="words", words=["a", "\udfff"]),
    document(kind="bytepair", merges={}),
    document(kind="bytepair", merges=[[97]]),
    document(kind="bytepair", merges=[[97, 98, 99]]),
    document(kind="bytepair", merges=["a b"]),
    document(kind="bytepair", merges=[[97, True]]),
    document(kind="bytepair", merges=[[97, 98.0]]),
    document(kind="bytepair", merges=[[97, 256]]),
    document(kind="bytepair", merges=[[-1, 97]]),
    document(kind="bytepair", merges=[[97, 10**30]]),
    document(kind="bytepair", merges=[[97, 98], [97, 98]]),
    # Each token twice as long as the one before: 2^60 bytes, if nobody looked.
    document(kind="bytepair", merges=[[97, 97]] + [[255 + n, 255 + n] for n in range(1, 60)]),
]


@pytest.mark.parametrize("content", BAD_DOCUMENTS, ids=lambda content: json.dumps(content)[:70])
def test_a_damaged_tokenizer_is_refused_in_one_line(tmp_path: Path, content: object) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerError) as refusal:
        load_tokenizer(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"\0" * 100,
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'{"format": "clearformer tokenizer", "version": NaN}',
        b'{"format": "clearformer tokenizer", "version": 1e400}',
        b'{"version": ' + b"9" * 5_001 + b"}",
        b'{"format": "clearformer tokenizer", "version": 1, "kind": "characters", '
        b'"characters": "a", "characters": "b"}',
        b'"' + b"a" * (64 * 1024 * 1024) + b'"',
    ],
    ids=lambda raw: ascii(raw[:40]),
)
def test_a_file_that_is_no_json_is_refused_in_one_line(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(raw)
    with pytest.raises(TokenizerError) as refusal:
        load_tokenizer(path)
    assert str(path) in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@many_examples
@given(st.data(), kinds)
def test_a_damaged_byte_gives_a_tokenizer_or_a_plain_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.json"
    save_tokenizer(build_tokenizer(kind, "I like small models, I do."), path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    try:
        loaded = load_tokenizer(path)
    except TokenizerError:
        return
    assert isinstance(loaded, Tokenizer)
    loaded.decode(loaded.encode("I like them"))


def test_a_missing_tokenizer_or_a_folder_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path, Path("a\0b")):
        with pytest.raises(TokenizerError, match="not a usable tokenizer"):
            load_tokenizer(path)


def test_a_tokenizer_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    tokenizer = build_tokenizer("characters", "ab")
    with pytest.raises(TokenizerError, match="cannot write"):
        save_tokenizer(tokenizer, tmp_path / "missing" / "tokenizer.json")
    (tmp_path / "taken").mkdir()
    with pytest.raises(TokenizerError, match="cannot write"):
        save_tokenizer(tokenizer, tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_the_package_is_light() -> None:
    script = (
        "import sys, clearformer.text;"
        "print([name for name in ('tokenizers', 'rich', 'torch', 'safetensors', 'jaxtyping')"
        " if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (found.stdout, found.stderr) == ("[]\n", "")
