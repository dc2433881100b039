"""Laws of training a run: what comes back, what lies on disk, what is refused without a trace."""

import hashlib
import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, Interrupted, NotFiniteError, RunError, TextError
from clearformer.runs import going, material
from clearformer.text.corpus import Corpus
from runs.tiny import DIALS, TEXT, StopAt, Told, files_in, refused


def weights(run):
    found = hashlib.sha256()
    for name, array in run.model.parameters().items():
        found.update(name.encode() + array.tobytes())
    return found.hexdigest()


def test_a_text_a_path_a_name_a_list_and_a_corpus_give_the_same_run(tmp_path, text_file):
    ways = [TEXT, text_file, str(text_file), [text_file], [str(text_file)], (text_file,)]
    ways.append(Corpus(TEXT, ("mine",), ()))
    runs = [cf.train(way, out=tmp_path / str(n), **DIALS) for n, way in enumerate(ways)]
    assert len({weights(run) for run in runs}) == 1
    assert len({run.summary["validation_loss"] for run in runs}) == 1


def test_several_files_are_one_text(tmp_path):
    for name, text in (("a.txt", TEXT), ("b.txt", "and more of it\n" * 5)):
        (tmp_path / name).write_text(text, "utf-8")
    run = cf.train([tmp_path / "a.txt", tmp_path / "b.txt"], out=tmp_path / "run", **DIALS)
    corpus = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["corpus"]
    assert corpus["files"] == [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    assert corpus["characters"] == len(TEXT) + 1 + 15 * 5
    assert run.evaluate().loss == pytest.approx(run.summary["validation_loss"], rel=1e-5)


def test_the_same_seed_gives_the_same_weights_and_another_does_not(tmp_path):
    one, again, other = (
        cf.train(TEXT, out=tmp_path / name, seed=seed, dropout=0.1, **DIALS)
        for name, seed in (("one", 5), ("again", 5), ("other", 6))
    )
    assert weights(one) == weights(again) != weights(other)


@pytest.mark.filterwarnings("ignore:this model sees:UserWarning")
def test_it_gives_back_a_run_that_can_write(run):
    assert (run.step, run.path.name) == (12, "run")
    text = run.generate("the cat", 20, seed=1)
    assert len(text) == 20
    assert set(text) <= set(TEXT)


@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
@pytest.mark.parametrize("recipe", ["modern", "classic"])
@pytest.mark.parametrize(
    "text", [TEXT, "吾輩は猫である。名前はまだ無い。\n" * 30], ids=["en", "ja"]
)
def test_every_tokenizer_and_recipe_trains_and_writes(tmp_path, kind, recipe, text):
    run = cf.train(text, out=tmp_path / "run", tokenizer=kind, recipe=recipe, **DIALS)
    assert math.isfinite(run.summary["validation_loss"])
    assert run.generate("", 5, seed=0)
    assert cf.load(tmp_path / "run").generate("", 5, seed=0) == run.generate("", 5, seed=0)


def test_the_summary_agrees_with_what_lies_on_disk(run):
    summary = run.summary
    assert summary["run"] == str(run.path)
    assert summary["parameters"] == sum(p.size for p in run.model.parameters().values())
    assert summary["vocabulary"] == run.tokenizer.vocabulary_size == len(set(TEXT))
    assert (summary["steps"], summary["tokens_seen"]) == (12, 12 * 4 * 8)
    assert summary["validation_perplexity"] == pytest.approx(math.exp(summary["validation_loss"]))
    last = json.loads((run.path / "log.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["validation_loss"] == summary["validation_loss"]


def test_the_folder_holds_what_the_contract_names(run):
    names = {path.name for path in run.path.iterdir()}
    assert {"run.json", "tokenizer.json", "log.jsonl", "checkpoints", "samples.txt"} <= names
    assert {path.name for path in (run.path / "checkpoints" / "step-000012").iterdir()} == {
        "model.safetensors",
        "optimizer.safetensors",
        "state.json",
        "manifest.json",
    }
    assert "=== step 12 ===" in (run.path / "samples.txt").read_text("utf-8")


def test_run_json_tells_what_was_trained_how_and_on_what(run, text_file):
    document = json.loads((run.path / "run.json").read_text("utf-8"))
    assert document["model"] == run.configuration.to_json()
    assert document["training"]["steps"] == 12
    assert document["training"]["batch"] == 4
    assert document["tokenizer"] == {
        "kind": "characters",
        "vocabulary": len(set(TEXT)),
        "fingerprint": run.tokenizer.fingerprint,
    }
    assert document["corpus"] == {
        "sources": [str(text_file)],
        "files": [str(text_file)],
        "encoding": "utf-8",
        "characters": len(TEXT),
        "fingerprint": hashlib.sha256(TEXT.encode()).hexdigest(),
    }
    assert document["engine"] == "numpy"
    assert document["workers"] >= 1
    assert document["versions"]["clearformer"] == cf.__version__
    assert document["versions"]["numpy"] == np.__version__
    assert set(document["versions"]) >= {"clearformer", "numpy", "python"}


def test_a_run_that_was_given_its_text_keeps_no_file_name(tmp_path):
    run = cf.train(TEXT, out=tmp_path / "run", **DIALS)
    assert json.loads((run.path / "run.json").read_text("utf-8"))["corpus"]["files"] == []


@pytest.mark.parametrize(
    "text, name", [("tiny.txt", "tiny"), (TEXT, "text-given-directly"), (None, "python-docs")]
)
def test_without_a_name_a_run_is_called_after_its_text(
    tmp_path, text_file, monkeypatch, text, name
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(material, "corpus_of", short_documentation)
    for expected in (name, f"{name}-2"):
        run = cf.train(text, **(DIALS | {"steps": 1}))
        assert run.path == Path("runs") / expected


def short_documentation(text, encoding):
    """The text asked for; instead of the whole documentation of Python a little of it."""
    if text is None:
        return Corpus(TEXT, ("pydoc_data.topics",), ())
    return ORIGINAL(text, encoding)


ORIGINAL = material.corpus_of


def test_a_run_of_seconds_is_shallow_and_says_so(tmp_path):
    told = Told()
    run = cf.train(TEXT, out=tmp_path / "run", minutes=0.001, batch=2, reporter=told)
    assert (run.configuration.layers, run.configuration.heads) == (2, 2)
    expected = (
        "time is short, so the model has layers=2, heads=2; for layers=4, heads=4 name the size"
    )
    assert told.notes[0] == f"{expected}: small"
    assert told.notes[0] in run.summary["notes"]


@pytest.mark.parametrize(
    "given",
    [{"minutes": 1e-4, "size": "small"}, {"minutes": 1e-4, "layers": 4}, {"steps": 1}],
)
def test_a_run_whose_size_is_named_or_that_counts_steps_is_not(given, tmp_path):
    told = Told()
    run = cf.train(TEXT, out=tmp_path / "run", batch=2, reporter=told, **given)
    assert run.configuration.layers == run.configuration.heads == 4
    assert not any("time is short" in note for note in told.notes)


def test_notes_reach_the_reporter(tmp_path):
    told = Told()
    cf.train("abcde fghi" * 2, out=tmp_path / "run", reporter=told, **(DIALS | {"context": 64}))
    assert any("context was cut from 64 to 17" in note for note in told.notes)


def test_more_workers_than_rows_are_no_fault(tmp_path):
    run = cf.train(TEXT, out=tmp_path / "run", workers=6, **DIALS)
    assert run.step == 12


# Refused, and nothing left behind.


@pytest.mark.parametrize(
    "name, meant",
    [
        ("layer", "layers"),
        ("learningrate", "learning_rate"),
        ("droput", "dropout"),
        ("step", "steps"),
        ("batch_size", "batch"),
    ],
)
def test_an_unknown_dial_is_refused_with_the_nearest(tmp_path, name, meant):
    message = refused(ConfigurationError, cf.train, TEXT, out=tmp_path / "run", **{name: 2})
    assert repr(name) in message
    assert f"did you mean {meant}?" in message
    assert list(tmp_path.iterdir()) == []


def test_the_vocabulary_is_not_a_dial_of_the_model(tmp_path):
    """It follows from text and tokenizer; `vocab` limits it."""
    message = refused(ConfigurationError, cf.train, TEXT, out=tmp_path / "run", vocabulary=20)
    assert "vocab" in message


WRONG = [
    ({"heads": 3, "embed": 8}, ConfigurationError, "multiple of heads"),
    ({"embed": 6}, ConfigurationError, "even"),
    ({"layers": -1}, ConfigurationError, "layers"),
    ({"layers": 0}, ConfigurationError, "layers"),
    ({"layers": 1.5}, ConfigurationError, "layers"),
    ({"embed": 10**30}, ConfigurationError, "embed"),
    ({"context": 10**9}, ConfigurationError, "memory"),
    ({"embed": 10_000_000, "layers": 1000}, ConfigurationError, "memory"),
    ({"batch": 10**9}, ConfigurationError, "memory"),
    ({"workers": 10**9}, ConfigurationError, "memory"),
    ({"vocab": 0}, ConfigurationError, "vocabulary"),
    ({"vocab": 10**12, "tokenizer": "words"}, ConfigurationError, "memory"),
    ({"batch": -1}, ConfigurationError, "batch"),
    ({"steps": 0}, ConfigurationError, "steps"),
    ({"steps": None, "minutes": math.nan}, ConfigurationError, "minutes"),
    ({"minutes": 1.0}, ConfigurationError, "steps or minutes"),
    ({"learning_rate": math.nan}, ConfigurationError, "learning_rate"),
    ({"dropout": 1.0}, ConfigurationError, "dropout"),
    ({"dropout": math.nan}, ConfigurationError, "dropout"),
    ({"recipe": "futuristic"}, ConfigurationError, "recipe"),
    ({"size": "huge"}, ConfigurationError, "size"),
    ({"size": ["small"]}, ConfigurationError, "size"),
    ({"tokenizer": "morphemes"}, ConfigurationError, "tokenizer"),
    ({"tokenizer": ["words"]}, ConfigurationError, "tokenizer"),
    ({"engine": "abacus"}, ConfigurationError, "engine"),
    ({"encoding": "klingon"}, ConfigurationError, "klingon"),
]


@pytest.mark.parametrize("dials, kind, word", WRONG, ids=lambda value: str(value)[:40])
def test_what_cannot_work_is_refused_and_nothing_left_behind(
    tmp_path, text_file, dials, kind, word
):
    before = files_in(tmp_path)
    out = tmp_path / "deep" / "er" / "run"
    assert word in refused(kind, cf.train, text_file, out=out, **(DIALS | dials))
    assert files_in(tmp_path) == before


def test_a_rate_of_numpy_drops_as_a_plain_one_does(tmp_path):
    plain, of_numpy = (
        cf.train(TEXT, out=tmp_path / str(number), **DIALS, dropout=rate)
        for number, rate in enumerate((0.5, np.float64(0.5)))
    )
    assert weights(plain) == weights(of_numpy)


@pytest.mark.parametrize("text", ["", "   ", "\n\n\n", "a", "ab", []], ids=repr)
def test_a_text_that_holds_nothing_is_refused(tmp_path, text):
    refused(TextError, cf.train, text, out=tmp_path / "run", **DIALS)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_taken_is_refused_and_left_alone(run):
    before = files_in(run.path)
    message = refused(RunError, cf.train, TEXT, out=run.path, **DIALS)
    assert "--resume" in message
    assert files_in(run.path) == before


def test_a_run_that_failed_before_its_first_save_leaves_nothing(tmp_path, text_file, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(going, "build", fail)
    before = files_in(tmp_path)
    with pytest.raises(MemoryError):
        cf.train(text_file, out=tmp_path / "deep" / "run", **DIALS)
    assert files_in(tmp_path) == before


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_run_that_diverges_before_its_first_save_leaves_nothing(tmp_path, monkeypatch):
    built = going.build

    def broken(configuration, rng):
        model = built(configuration, rng)
        model.embedding.table[0, 0] = np.nan
        return model

    monkeypatch.setattr(going, "build", broken)
    message = refused(NotFiniteError, cf.train, TEXT, out=tmp_path / "deep" / "run", **DIALS)
    assert "embedding.table" in message
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_saves_and_tells_how_to_go_on(tmp_path):
    with pytest.raises(Interrupted) as caught:
        cf.train(TEXT, out=tmp_path / "run", reporter=StopAt(5), **DIALS)
    message = str(caught.value)
    assert "after step 5" in message
    assert f"clearformer train --resume --out {tmp_path / 'run'}" in message
    assert cf.load(tmp_path / "run").step == 5


@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
def test_a_text_without_a_prompt_begins_as_a_line_does(tmp_path, kind):
    """After a newline, where the text has one; else after what the text begins with."""
    lines = cf.train("the cat sat\n" * 40, out=tmp_path / "lines", tokenizer=kind, **DIALS)
    assert lines.tokenizer.decode([lines.start_token]) == "\n"
    if kind != "bytepair":  # which knows every byte
        prose = cf.train(TEXT, out=tmp_path / "prose", tokenizer=kind, **DIALS)
        assert TEXT.startswith(prose.tokenizer.decode([prose.start_token]))


@pytest.mark.skipif(os.name == "nt" or sys.platform == "darwin", reason="names are Unicode there")
def test_a_file_whose_name_is_no_unicode_can_be_trained_on(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text(TEXT, "utf-8")
    run = cf.train(path, out=tmp_path / "run", **DIALS)
    assert json.loads((run.path / "run.json").read_text("utf-8"))["corpus"]["files"] == []
