"""`check --path`: one exercise after another, each file written when the one before is right."""

import pytest

from clearformer.checking import path
from cli.documents import only_document

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
    assert [each.name for each in folder.iterdir()] == ["one_hot.py"]
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
    assert (document["right"], document["check"]["exercise"]) == ([], "one_hot")


def test_what_was_deleted_is_written_again_and_nothing_else(command, folder):
    folder.mkdir()
    (folder / "embedding.py").write_text(EMBEDDING, "utf-8")
    document = only_document(command("check", "--path", folder, "--json").out)
    assert (document["next"], document["check"]) == ("one_hot", None)
    assert document["file"] == str(folder / "one_hot.py")
    assert (folder / "embedding.py").read_text("utf-8") == EMBEDDING


def test_it_chooses_by_itself(command, folder):
    assert "leave out" in command("check", "softmax", "--path", folder).refusal()
    assert "leave out" in command("check", "--path", folder, "--watch").refusal()
    assert not folder.exists()


def test_a_file_cannot_be_the_folder(command, folder):
    folder.write_text("mine", "utf-8")
    assert "cannot be a folder" in command("check", "--path", folder).refusal()
