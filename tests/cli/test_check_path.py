"""`check --path`: one exercise after another, each file written when the one before is right."""

import os
import subprocess
import sys

import pytest

from clearformer.checking import path
from cli.documents import only_document
from cli.test_check import wait_for

ONE_HOT = """
import numpy as np
def one_hot(ids, vocab_size):
    return np.eye(vocab_size)[ids]
"""
EMBEDDING = """
def embedding(ids, table):
    return table[ids]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be made, and a path of two exercises."""
    monkeypatch.setattr(path, "PATH", ("one_hot", "embedding"))
    return tmp_path / "a folder"


def test_the_first_file_is_written_into_a_new_folder(command, folder):
    shown = command("check", "--path", folder)
    assert shown.status == 0
    assert "0 of 2 right. Next: one_hot" in shown.out
    assert [each.name for each in folder.iterdir()] == ["one_hot.py"]


def test_the_next_file_comes_only_when_the_newest_is_right(command, folder):
    command("check", "--path", folder)
    assert command("check", "--path", folder).status == 2  # nothing is written into it yet
    (folder / "one_hot.py").write_text(ONE_HOT.replace("[ids]", "[ids].T"), "utf-8")
    wrong = command("check", "--path", folder, "--hint", "1", "--show")
    assert wrong.status == 1
    assert "Ask yourself" in wrong.out
    assert "import numpy" in wrong.out
    assert [each.name for each in folder.glob("*.py")] == ["one_hot.py"]
    (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
    right = command("check", "--path", folder, "--language", "ja")
    assert right.status == 0
    assert "次は embedding" in right.out
    assert "(T, d)。何も掛けません" in (folder / "embedding.py").read_text("utf-8")


def test_at_the_end_all_are_judged_up_to_the_first_that_is_not_right(command, folder):
    folder.mkdir()
    (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
    (folder / "embedding.py").write_text(EMBEDDING, "utf-8")
    done = only_document(command("check", "--path", folder, "--json").out)
    assert done["right"] == done["path"] == ["one_hot", "embedding"]
    assert (done["next"], done["check"]["verdict"]) == (None, "right")
    assert "2 of 2 right" in command("check", "--path", folder).out
    (folder / "one_hot.py").write_text(ONE_HOT.replace("[ids]", "[ids] * 2"), "utf-8")
    spoilt = command("check", "--path", folder, "--json")
    assert spoilt.status == 1
    document = only_document(spoilt.out)
    assert (document["right"], document["check"]["exercise"]) == (["embedding"], "one_hot")


def test_what_is_missing_is_written_and_what_is_there_counts_once_it_was_judged(command, folder):
    folder.mkdir()
    (folder / "embedding.py").write_text(EMBEDDING, "utf-8")
    document = only_document(command("check", "--path", folder, "--json").out)
    assert document["next"] == "one_hot"
    assert (document["right"], document["check"]["exercise"]) == (["embedding"], "embedding")
    assert document["file"] == str(folder / "one_hot.py")
    assert (folder / "embedding.py").read_text("utf-8") == EMBEDDING
    (folder / "one_hot.py").unlink()
    assert "1 of 2 right. Next: one_hot" in command("check", "--path", folder).out


def test_what_was_changed_last_is_judged_first_and_never_counted_unjudged(command, folder):
    folder.mkdir()
    command("check", "--path", folder)
    (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
    command("check", "--path", folder)
    spoilt = folder / "one_hot.py"
    spoilt.write_text(ONE_HOT.replace("[ids]", "[ids] * 2"), "utf-8")
    later = (folder / "embedding.py").stat().st_mtime + 5
    os.utime(spoilt, (later, later))
    document = only_document(command("check", "--path", folder, "--json").out)
    assert document["check"]["exercise"] == "one_hot"
    assert document["right"] == []


def test_an_answer_is_judged_again_when_one_that_it_imports_changes(folder):
    folder.mkdir()
    (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
    (folder / "embedding.py").write_text("from one_hot import one_hot\n", "utf-8")
    path.Judged.of(folder).keep("embedding", True)
    assert path.Judged.of(folder).right() == ["embedding"]
    (folder / "one_hot.py").write_text("", "utf-8")
    assert path.Judged.of(folder).right() == []


def test_a_missing_answer_that_another_imports_is_written_again(command, folder):
    folder.mkdir()
    (folder / "embedding.py").write_text("from one_hot import one_hot\n" + EMBEDDING, "utf-8")
    shown = command("check", "--path", folder)
    assert shown.status == 2
    assert "0 of 2 right. Next: one_hot" in shown.out


@pytest.mark.parametrize("text", ["", "[]", "{", '{"one_hot": 3}'])
def test_a_record_that_cannot_be_read_counts_nothing(folder, text):
    folder.mkdir()
    (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
    (folder / path.RECORD).write_text(text, "utf-8")
    assert path.Judged.of(folder).right() == []


def test_a_folder_is_watched_and_a_file_just_begun_is_no_change(tmp_path):
    heard = tmp_path / "heard.txt"
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "one_hot.py").write_text(ONE_HOT.replace("[ids]", "[ids] * 2"), "utf-8")
    with heard.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "clearformer", "check", "--path", folder, "--watch"],
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            wait_for(heard, "Ctrl-C ends it")
            wait_for(heard, "one_hot   WRONG")
            (folder / "one_hot.py").write_text(ONE_HOT, "utf-8")
            wait_for(heard, "Next: embedding")
            (folder / "embedding.py").write_text(EMBEDDING, "utf-8")
            wait_for(heard, "Next: positional_encoding")
        finally:
            process.terminate()
            process.wait()
    assert "embedding   COULD NOT" not in heard.read_text("utf-8")


def test_it_chooses_by_itself(command, folder):
    assert "leave out" in command("check", "softmax", "--path", folder).refusal()
    assert "leave out" in command("check", "--path", folder, "--watch", "--json").refusal()
    assert not folder.exists()


def test_a_file_cannot_be_the_folder(command, folder):
    folder.write_text("mine", "utf-8")
    assert "is a file; --path expects a folder" in command("check", "--path", folder).refusal()
