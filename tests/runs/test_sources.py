"""Laws of where a text comes from: a name is a file, anything else is the text itself."""

from pathlib import Path

import pytest

from clearformer.errors import RunError, TextError
from clearformer.runs.sources import corpus_of, corpus_of_run
from clearformer.text.corpus import Corpus
from clearformer.training.run_folder import RunFolder
from runs.tiny import TEXT, change_configuration, refused


@pytest.mark.parametrize(
    "text",
    [
        "Once upon a time",
        "two\nlines.txt",
        "a" * 5000,
        "the file a.txt and/or b.txt",
        "nul\0byte text",
        "word",
        "~",
        "é" * 1000,
    ],
    ids=lambda text: ascii(text[:20]),
)
def test_a_string_that_names_nothing_is_the_text(text):
    assert corpus_of(text).text == text


@pytest.mark.parametrize(
    "name",
    [
        "missing.txt",
        "folder/missing",
        "C:\\books\\missing",
        "./x",
        "..\\missing.txt",
        "a.md",
        "b.TXT ",
    ],
)
def test_what_looks_like_a_name_is_never_taken_for_a_text(name):
    """A person who mistypes a name does not want a model of that name."""
    message = refused(TextError, corpus_of, name)
    assert "does not exist" in message


def test_a_name_of_a_file_is_read(tmp_path, monkeypatch):
    (tmp_path / "no ending").write_text(TEXT, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert corpus_of("no ending").text == TEXT
    assert corpus_of("no ending").sources == ("no ending",)


def test_a_path_is_always_a_name():
    refused(TextError, corpus_of, Path("Once upon a time"))


def test_a_corpus_is_itself():
    corpus = Corpus(TEXT, ("mine",), ())
    assert corpus_of(corpus) is corpus


def test_nothing_is_the_documentation_of_python():
    corpus = corpus_of(None)
    assert corpus.sources == ("pydoc_data.topics",)
    assert corpus.characters > 300_000
    assert "documentation of Python" in corpus.notes[0]


def test_bytes_are_read_in_the_encoding_that_was_named(tmp_path):
    (tmp_path / "a.txt").write_bytes("吾輩は猫である".encode("shift_jis"))
    assert corpus_of(tmp_path / "a.txt", "shift_jis").text == "吾輩は猫である"
    assert "shift_jis" in refused(TextError, corpus_of, tmp_path / "a.txt")


def test_the_built_in_text_of_a_run_is_found_again(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    recorded = {
        "sources": ["pydoc_data.topics"],
        "files": [],
        "fingerprint": corpus_of(None).fingerprint,
    }
    folder.write_configuration({"corpus": recorded})
    assert corpus_of_run(folder).text == corpus_of(None).text


@pytest.mark.parametrize(
    "change",
    [
        {"files": []},
        {"files": "tiny.txt"},
        {"files": [None]},
        {"files": ["/nowhere/at/all.txt"]},
        {"encoding": "klingon"},
        {"encoding": 3},
        {"encoding": "utf-16"},
        {"fingerprint": "0" * 64},
        {"fingerprint": None},
    ],
    ids=str,
)
def test_a_text_that_cannot_be_found_again_is_refused_with_advice(run, change):
    change_configuration(run.path, lambda document: document["corpus"].update(change))
    message = refused(RunError, corpus_of_run, RunFolder.open(run.path))
    assert "name it yourself" in message or "start a new run" in message


@pytest.mark.parametrize("text", [123, b"bytes", [b"bytes"], [1], iter(["a"]), {"a": 1}])
def test_what_is_neither_text_nor_names_is_refused(text):
    assert "a list of paths" in refused(TextError, corpus_of, text)
