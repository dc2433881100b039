"""Laws of `words`: what is near a word, or one line why not."""

import os
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest

import clearformer
from cli.conftest import ENVIRONMENT
from cli.documents import files_in, only_document
from words.grammars import CLASSES, classes

QUICK = ("--embed", 8, "--window", 1, "--epochs", 3, "--threshold", 1)


@pytest.fixture(scope="module")
def novel(tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "novel.txt"
    path.write_text(classes(900), "utf-8")
    return path


@pytest.fixture(scope="module")
def saved(novel):
    vectors = clearformer.word_vectors(novel, embed=8, window=1, epochs=3, threshold=1.0)
    vectors.save(novel.parent / "vectors")
    return novel.parent / "vectors"


def test_json_is_one_document_with_what_was_asked_for(command, novel, tmp_path):
    shown = command(
        "words", novel, *QUICK, "--near", "FruitA", "--near", "toola", "--count", 3,
        "--analogy", "fruita", "fruitb", "toola", "--map", tmp_path / "map.svg",
        "--out", tmp_path / "vectors", "--json",
    )  # fmt: skip
    assert (shown.status, shown.err) == (0, "")
    document = only_document(shown.out)
    assert set(document) == {
        "words", "vocabulary", "left_out", "options", "loss", "near", "analogies", "map", "out",
        "notes",
    }  # fmt: skip
    near = document["near"][0]
    assert near["word"] == "FruitA"
    assert {found["word"] for found in near["found"]} == {*CLASSES["fruit"]} - {"fruita"}
    assert near["found"][0]["cosine"] > near["found"][2]["cosine"] > 0.5
    assert near["found"][0]["count"] > 5
    assert document["analogies"][0]["words"] == ["fruita", "fruitb", "toola"]
    ElementTree.parse(tmp_path / "map.svg")
    assert len(clearformer.WordVectors.load(tmp_path / "vectors")) == document["vocabulary"]


def test_it_gives_what_python_gives(command, novel, saved):
    document = only_document(command("words", novel, *QUICK, "--near", "toolb", "--json").out)
    expected = clearformer.WordVectors.load(saved).near("toolb")
    found = [(each["word"], each["cosine"]) for each in document["near"][0]["found"]]
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [cosine for _, cosine in found] == pytest.approx([cosine for _, cosine in expected])


def test_what_was_kept_is_opened_and_not_trained_again(command, saved):
    before = files_in(saved)
    shown = command("words", saved, "--near", "toolb", "--count", 3)
    assert shown.status == 0
    assert [line.split()[-1] for line in shown.out.splitlines()[-3:]] == [
        word for word, _ in clearformer.WordVectors.load(saved).near("toolb", 3)
    ]
    assert files_in(saved) == before
    for flags in (["--engine", "torch"], ["--device", "cpu"], ["--encoding", "utf-8"]):
        assert f"leave out {flags[0]}" in command("words", saved, *flags).refusal()
    refusal = command("words", saved, "--near", "toolb", "--epochs", 3).refusal()
    assert "leave out --epochs" in refusal


def test_in_words_the_columns_stand_below_each_other(command, novel):
    shown = command(
        "words", novel, *QUICK, "--near", "birda", "--analogy", "birda", "birdb", "toola"
    )
    assert (shown.status, shown.err) == (0, "")
    lines = shown.out.splitlines()
    assert lines[0].startswith("2,700 words, 42 different; 0 that occur less than 5 times")
    assert "near birda" in lines
    assert "birda is to birdb as toola is to" in lines
    rows = [line for line in lines if line.startswith("  ")]
    assert len({line.index(line.split()[2]) for line in rows if "cosine" not in line}) == 1
    assert max(map(len, lines)) <= 80


def test_where_no_word_is_named_some_frequent_ones_are_shown(command, novel):
    document = only_document(command("words", novel, *QUICK, "--json").out)
    assert len(document["near"]) == 4


def test_japanese_words_can_be_asked_for(command, tmp_path):
    (tmp_path / "neko.txt").write_text("吾輩は猫である。名前はまだ無い。" * 20, "utf-8")
    shown = command("words", tmp_path / "neko.txt", "--epochs", 1, "--near", "猫", "--json")
    assert only_document(shown.out)["near"][0]["word"] == "猫"


def test_the_engine_can_be_chosen(command, novel):
    pytest.importorskip("torch", reason="the engine torch needs PyTorch")
    by = [
        only_document(
            command("words", novel, *QUICK, "--near", "toola", "--engine", engine, "--json").out
        )
        for engine in ("numpy", "torch")
    ]
    assert by[0]["loss"] == pytest.approx(by[1]["loss"], rel=1e-3)


def test_a_word_that_is_not_there_is_refused_before_training(command, novel, monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was trained")

    monkeypatch.setattr("clearformer.words.training.fit", never)
    for flags in (("--near", "tolb"), ("--analogy", "toola", "tolb", "toolc")):
        refusal = command("words", novel, *QUICK, *flags).refusal()
        assert "'tolb' is not among the 42 words that have a vector; did you mean" in refusal
        assert "toolb" in refusal


def test_bad_places_and_dials_are_one_line(command, novel, saved, tmp_path):
    assert "already there" in command("words", novel, "--out", saved).refusal()
    assert "--map" in command("words", novel, "--map", tmp_path / "none" / "m.svg").refusal()
    assert "--map" in command("words", novel, "--map", tmp_path).refusal()
    assert "embed" in command("words", novel, "--embed", 1).refusal()
    assert "does not exist" in command("words", tmp_path / "none.txt").refusal()
    assert "is a folder" in command("words", tmp_path).refusal()
    (tmp_path / "short.txt").write_text("only once each of these", "utf-8")
    assert "smaller least" in command("words", tmp_path / "short.txt").refusal()
    (tmp_path / "wide.txt").write_text("a b a b a b", "utf-16")
    assert "--encoding utf-16" in command("words", tmp_path / "wide.txt").refusal()


@pytest.mark.skipif(os.name != "posix", reason="sends Ctrl-C as POSIX systems do")
def test_ctrl_c_ends_it_in_one_line_and_leaves_nothing(novel, tmp_path):
    arguments = ("words", novel, "--epochs", 10**6, "--out", tmp_path / "vectors")
    code = (
        "import sys, clearformer.words.training as t; step = t.train_step\n"
        "def told(*a, **k):\n    print('training', flush=True); return step(*a, **k)\n"
        "t.train_step = told\nfrom clearformer.cli.main import entry; entry(sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "training\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, "clearformer: interrupted")
    assert [*tmp_path.iterdir()] == []
