"""Text read from files."""

import codecs
import hashlib
import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError, TextError
from clearformer.text import Corpus, default_corpus, read_corpus
from text.samples import JAPANESE, many_examples, real_text

FRENCH = "Où est le garçon ? « Il était déjà là », répondit-elle.\n"
CHINESE = "敏捷的棕色狐狸跳过懒狗。\n今天天气很好,我们去公园吧!\n" * 20


def written(folder: Path, raw: bytes, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_bytes(raw)
    return path


def refusal(path: Path | str, encoding: str = "utf-8") -> str:
    """The one line that `path` is refused with, "FILE" for the path: it may hold any word."""
    with pytest.raises(TextError) as refused:
        read_corpus([path], encoding)
    message = str(refused.value)
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    return message.replace(str(path), "FILE")


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, "猫\tlike 😀\n".encode())
    corpus = read_corpus(path)
    assert corpus == Corpus("猫\tlike 😀\n", (str(path),), ())
    assert corpus.characters == 9
    assert corpus.fingerprint == hashlib.sha256("猫\tlike 😀\n".encode()).hexdigest()


def test_files_are_joined_at_line_ends(tmp_path: Path) -> None:
    names = {"a.txt": b"one", "b.txt": b"two\n", "c.txt": b"three"}
    paths = [written(tmp_path, raw, name) for name, raw in names.items()]
    corpus = read_corpus(paths)
    assert corpus.text == "one\ntwo\nthree"
    assert corpus.sources == tuple(map(str, paths))


def test_the_fingerprint_does_not_depend_on_chunks() -> None:
    text = "猫a" * 1_500_000
    assert Corpus(text, (), ()).fingerprint == hashlib.sha256(text.encode()).hexdigest()


def test_a_byte_order_mark_is_dropped_and_told(tmp_path: Path) -> None:
    for encoding, raw in {
        "utf-8": codecs.BOM_UTF8 + "猫".encode(),
        "utf-8-sig": codecs.BOM_UTF8 + "猫".encode(),
        "utf-16": "猫".encode("utf-16"),
        "utf-16-be": codecs.BOM_UTF16_BE + "猫".encode("utf-16-be"),
        "utf-32": "猫".encode("utf-32"),
        "gb18030": "\ufeff猫".encode("gb18030"),
    }.items():
        corpus = read_corpus([written(tmp_path, raw)], encoding)
        assert corpus.text == "猫"
        assert "byte order mark" in corpus.notes[0]


def test_line_ends_become_newlines_and_are_counted(tmp_path: Path) -> None:
    corpus = read_corpus([written(tmp_path, b"a\r\nb\r\nc\rd\n")])
    assert corpus.text == "a\nb\nc\rd\n"
    assert [note.split(": ")[1] for note in corpus.notes] == [
        "2 Windows line ends (CR LF) became newlines",
        "1 single carriage returns (CR) were kept",
    ]


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "utf-16", "utf-8", "iso2022_jp"])
def test_an_encoding_can_be_named(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, JAPANESE.encode(encoding))
    assert read_corpus([path], encoding).text == JAPANESE


@pytest.mark.parametrize(
    "encoding",
    [
        "klingon",
        "",
        "hex",
        "rot13",
        "idna",
        "unicode_escape",
        "utf-7",
        "a\0b",
        "undefined",
        "\udcff",
    ],
)
def test_an_encoding_that_is_none_is_refused(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ConfigurationError, match="encoding"):
        read_corpus([written(tmp_path, b"text")], encoding)


# Bytes that are not what they should be.


def test_the_first_bad_byte_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "猫".encode() * 2000 + b"\xff rest")
    message = refusal(path)
    assert message.startswith("FILE is not utf-8: ")
    assert "byte 6,000 (0xFF)" in message
    assert "damaged" in message
    path = written(tmp_path, codecs.BOM_UTF8 + b"ab\xff rest of it")
    assert "byte 5 (0xFF)" in refusal(path)


def test_a_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    for cut in (1, 2, 3):
        assert "cut off" in refusal(written(tmp_path, "a 😀".encode()[: 2 + cut]))


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        ("I like small models\n", "utf-16", "utf-16"),
        ("I like small models\n", "utf-16-le", "utf-16-le"),
        ("I like small models\n", "utf-16-be", "utf-16-be"),
        ("I like small models\n", "utf-32", "utf-32"),
        ("I like small models\n", "utf-32-le", "utf-32-le"),
        ("I like small models\n", "utf-32-be", "utf-32-be"),
        (JAPANESE, "utf-16", "utf-16"),
        (JAPANESE, "utf-16-le", "utf-16-le"),
        (JAPANESE, "utf-16-be", "utf-16-be"),
        (JAPANESE, "utf-32-le", "utf-32-le"),
        (CHINESE, "utf-16-le", "utf-16-le"),
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE + "①", "cp932", "cp932"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (FRENCH, "cp1252", "cp1252"),
        (FRENCH, "latin-1", "cp1252"),
    ],
)
def test_another_encoding_is_recognised_and_the_advice_works(
    tmp_path: Path, text: str, encoding: str, named: str
) -> None:
    path = written(tmp_path, text.encode(encoding))
    assert f"try --encoding {named}" in refusal(path)
    assert read_corpus([path], named).text == text


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "utf-16-le"])
def test_a_book_in_another_encoding_is_recognised(tmp_path: Path, encoding: str) -> None:
    text = real_text("soseki-cat.txt")
    path = written(tmp_path, text.encode(encoding, "ignore"))
    message = refusal(path)
    assert "try --encoding" in message
    named = message.rpartition("--encoding ")[2]
    assert read_corpus([path], named).text == text.encode(encoding, "ignore").decode(encoding)


def test_what_cannot_be_told_is_not_guessed(tmp_path: Path) -> None:
    for encoding in ("gb18030", "koi8-r"):
        text = CHINESE if encoding == "gb18030" else "Все счастливые семьи похожи.\n"
        assert "looks like" not in refusal(written(tmp_path, text.encode(encoding)))


def test_utf_8_under_another_name_is_recognised(tmp_path: Path) -> None:
    assert "valid UTF-8" in refusal(written(tmp_path, "猫である".encode()), "euc_jp")
    marked = written(tmp_path, codecs.BOM_UTF8 + b"text")
    assert "try --encoding utf-8" in refusal(marked, "cp1252")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\x06",
        bytes(range(256)) * 4,
        b"\0" * 100,
        b"\0",
        b"text with a zero \0 in it, and more text after it",
        b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\0>\0\1\0\0\0",
        b"PK\x03\x04\x14\0\0\0\x08\0" + random.Random(0).randbytes(500),
    ],
    ids=lambda raw: ascii(raw[:12]),
)
def test_a_binary_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = written(tmp_path, raw)
    assert "FILE is binary" in refusal(path)
    assert "FILE is binary" in refusal(path, "latin-1")


@many_examples
@given(
    st.binary(max_size=60), st.sampled_from(["utf-8", "utf-16", "utf-32-be", "cp932", "gb18030"])
)
def test_any_bytes_give_a_text_or_a_plain_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes, encoding: str
) -> None:
    path = written(tmp_path_factory.getbasetemp(), raw, "any.txt")
    try:
        corpus = read_corpus([path], encoding)
    except TextError as fault:
        assert len(str(fault).splitlines()) == 1
        return
    assert "\0" not in corpus.text
    assert "\r\n" not in corpus.text
    assert not corpus.text.isspace()


# Files that are none.


@pytest.mark.parametrize(
    ("raw", "named"), [(b"", "empty"), (b"\n\n \t\r\n", "blanks"), ("\u3000\n".encode(), "blanks")]
)
def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path, raw: bytes, named: str) -> None:
    assert named in refusal(written(tmp_path, raw))
    assert "blanks" in refusal(written(tmp_path, codecs.BOM_UTF8 + raw))


def test_one_character_is_a_text(tmp_path: Path) -> None:
    assert read_corpus([written(tmp_path, b"a")]).text == "a"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "none.txt")
    assert "does not exist" in refusal(str(tmp_path / "two\nlines"))
    assert "cannot be read" in refusal("a\0b")
    assert "cannot be read" in refusal(tmp_path / ("a" * 5000))


def test_a_folder_is_refused_with_what_would_do(tmp_path: Path) -> None:
    assert "FILE/*.txt" in refusal(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no device files on Windows")
def test_a_device_is_refused() -> None:
    assert "device" in refusal("/dev/zero")


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(self: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, b"text")
    monkeypatch.setattr(Path, "open", denied)
    assert "Permission denied" in refusal(path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a file name")
def test_a_name_that_is_no_text_can_still_be_told(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt"))
    assert "\\udcff.txt" in refusal(path)


def test_no_file_at_all_is_refused() -> None:
    with pytest.raises(TextError, match="at least one text file"):
        read_corpus([])


def test_python_brings_a_text_of_its_own() -> None:
    corpus = default_corpus()
    assert corpus.characters > 100_000
    assert corpus.sources == ("pydoc_data.topics",)
    assert "documentation of Python" in corpus.notes[0]
    assert corpus == default_corpus()


def test_a_python_without_that_text_asks_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    with pytest.raises(TextError, match="name a text file"):
        default_corpus()
