"""Laws of reading files piece by piece: the text is that of the whole, wherever it is cut."""

import codecs
import hashlib
import os
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import TextError
from clearformer.text import read_corpus
from clearformer.text.fingerprint import Fingerprint
from clearformer.text.text_file import require_files
from clearformer.text.text_files import Landmark, TextFiles
from text.samples import JAPANESE, many_examples, texts

ENCODINGS = [
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be", "gb18030"),
    *("cp932", "shift_jis", "euc_jp", "iso2022_jp", "big5hkscs", "shift_jisx0213", "cp1252", "hz"),
]

encodings = st.sampled_from(ENCODINGS)
pieces = st.integers(1, 9)

plain = texts.map(lambda text: text.replace("\0", "").replace("\r\n", "\r \n")).filter(str.strip)
"""Texts that a file can hold and give back as they are, if the encoding has their characters."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def written(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"{number}.txt" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def outcome(paths: list[Path], encoding: str, piece: int) -> tuple[str, ...]:
    """The text and the notes, or the line with which it is refused."""
    files = TextFiles(paths, encoding, piece=piece)
    try:
        return ("".join(files), *files.notes)
    except TextError as fault:
        return ("refused", str(fault))


@many_examples
@given(plain, encodings, pieces)
def test_a_text_is_read_as_python_decodes_it(
    folder: Path, text: str, encoding: str, piece: int
) -> None:
    raw = text.encode(encoding, "ignore")
    expected = raw.decode(encoding).removeprefix("\ufeff")
    if not expected.strip():
        return
    found = outcome(written(folder, raw), encoding, piece)
    if found[0] != "refused":
        assert found[0] == expected.replace("\r\n", "\n")
    else:  # ASCII in pairs, or NUL made of what an encoding ignores
        assert "leave --encoding out" in found[1]


@many_examples
@given(st.binary(max_size=40), encodings, pieces, pieces)
def test_any_bytes_have_the_same_outcome_however_they_are_cut(
    folder: Path, raw: bytes, encoding: str, piece: int, other: int
) -> None:
    paths = written(folder, raw)
    assert outcome(paths, encoding, piece) == outcome(paths, encoding, other)
    assert outcome(paths, encoding, piece) == outcome(paths, encoding, 1 << 20)


@many_examples
@given(st.binary(min_size=1, max_size=40), encodings, pieces)
def test_the_first_byte_that_does_not_fit_is_named(
    folder: Path, raw: bytes, encoding: str, piece: int
) -> None:
    found = outcome(written(folder, raw), encoding, piece)
    if found[0] != "refused" or "does not fit" not in found[1]:
        return
    with pytest.raises(UnicodeDecodeError) as fault:
        raw.decode(encoding.removesuffix("-sig"))
    place = fault.value.start
    assert f"byte {place:,} (0x{raw[place]:02X}) does not fit" in found[1]


@settings(many_examples, max_examples=30)
@given(st.lists(plain, min_size=1, max_size=4), encodings, pieces, pieces)
def test_reading_can_begin_at_every_landmark(
    folder: Path, contents: list[str], encoding: str, piece: int, other: int
) -> None:
    raw = [text.encode(encoding, "ignore") for text in contents]
    paths = written(folder, *raw)
    files = TextFiles(paths, encoding, piece=piece)
    text, landmarks = "", [Landmark()]
    try:
        for part in files:
            text += part
            landmarks += [files.landmark] if files.landmark else []
    except TextError:
        return
    for landmark in landmarks:
        again = Landmark.from_json(landmark.to_json())
        assert again == landmark
        rest = "".join(TextFiles(paths, encoding, start=again, piece=other))
        assert rest == text[landmark.characters :]
    assert text == read_corpus(paths, encoding).text


@pytest.mark.parametrize("piece", [1, 2, 3, 4, 5])
def test_a_line_end_may_be_cut_in_two(tmp_path: Path, piece: int) -> None:
    paths = written(tmp_path, b"a\r\nb\r\r\n\rc\r", b"\nd\r\n")
    files = TextFiles(paths, piece=piece)
    assert "".join(files) == "a\nb\r\n\rc\r\n\nd\n"
    assert [note.split(": ")[1] for note in files.notes] == [
        "2 Windows line ends (CR LF) became newlines",
        "3 single carriage returns (CR) were kept",
        "1 Windows line ends (CR LF) became newlines",
    ]


def test_every_byte_is_heard_once(tmp_path: Path) -> None:
    contents = [codecs.BOM_UTF8 + "猫\r\n".encode(), b"second"]
    paths = written(tmp_path, *contents)
    heard = [b"", b""]

    def hear(number: int, raw: bytes) -> None:
        heard[number] += raw

    assert "".join(TextFiles(paths, piece=2, hear=hear)) == "猫\nsecond"
    assert heard == contents


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    (path,) = written(tmp_path, JAPANESE.encode() * 8_000)
    digest = hashlib.sha256()
    tracemalloc.start()
    try:
        for text in TextFiles(path, piece=1 << 14):
            digest.update(text.encode())
        assert tracemalloc.get_traced_memory()[1] < 400_000 < path.stat().st_size
    finally:
        tracemalloc.stop()
    assert digest.hexdigest() == read_corpus(path).fingerprint


def test_a_fingerprint_does_not_depend_on_the_pieces() -> None:
    one, other = Fingerprint(), Fingerprint()
    text = "猫である" * 300_000
    one.add(text)
    for start in range(0, len(text), 70_001):
        other.add(text[start : start + 70_001])
    assert str(one) == str(other) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes on Windows")
def test_a_pipe_can_be_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TextError, match="is a pipe, expected a file, which can be read again"):
        require_files([path], "utf-8")
    writer = threading.Thread(target=path.write_text, args=("from a pipe\r\n",))
    writer.start()
    assert read_corpus(path).text == "from a pipe\n"
    writer.join()


def test_files_are_looked_at_before_any_work(tmp_path: Path) -> None:
    good, bad = written(tmp_path, b"text", b"\xff\xfet\0")
    require_files([good], "utf-8")
    with pytest.raises(TextError, match="byte order mark of UTF-16"):
        require_files([good, bad], "utf-8")
    with pytest.raises(TextError, match="does not exist"):
        require_files([tmp_path / "none.txt"], "utf-8")


GOOD = Landmark(1).to_json()


@pytest.mark.parametrize(
    "change",
    [
        *({name: value} for name in GOOD for value in (None, "x", 1.5, -1, [], True, "0g")),
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_landmark_is_refused(change: dict[str, Any]) -> None:
    if GOOD | change == GOOD or (
        change.keys() <= {"after_return", "newline"} and True in change.values()
    ):
        return
    with pytest.raises(ValueError, match=r"landmark|whole number"):
        Landmark.from_json(GOOD | change)
