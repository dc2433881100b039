"""Laws of going on with a run: the same run, the same text, to the end that was asked for."""

import hashlib
import json
import math
import os
import shutil

import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, Interrupted, RunError
from clearformer.training import checkpoint, evaluation_time, memory
from clearformer.training.options import OPTIMIZERS
from engines.runners import needs_torch
from runs.test_engines import HOW
from runs.tiny import DIALS, TEXT, StopAt, Told, change_configuration, files_in, refused


@pytest.fixture
def stopped(tmp_path, text_file):
    """A run that was stopped after step 5 of 12."""
    with pytest.raises(Interrupted):
        cf.train(text_file, out=tmp_path / "run", reporter=StopAt(5), **DIALS)
    return tmp_path / "run"


def model_file(path, step):
    return (path / "checkpoints" / f"step-{step:06}" / "model.safetensors").read_bytes()


def resume(path, **options):
    return cf.train(out=path, resume=True, **options)


def test_it_ends_where_an_uninterrupted_run_ends(tmp_path, stopped, text_file):
    whole = cf.train(text_file, out=tmp_path / "whole", **DIALS)
    parts = resume(stopped)
    assert parts.step == whole.step == 12
    assert model_file(stopped, 12) == model_file(tmp_path / "whole", 12)
    for name in ("train_loss", "validation_loss", "bits_per_character", "tokens_seen"):
        assert parts.summary[name] == whole.summary[name]


@pytest.mark.parametrize("kind", ["words", "bytepair"])
def test_it_does_so_with_every_tokenizer(tmp_path, text_file, kind):
    whole = cf.train(text_file, out=tmp_path / "whole", tokenizer=kind, dropout=0.2, **DIALS)
    with pytest.raises(Interrupted):
        cf.train(
            text_file,
            out=tmp_path / "run",
            tokenizer=kind,
            dropout=0.2,
            reporter=StopAt(7),
            **DIALS,
        )
    assert (
        resume(tmp_path / "run").summary["bits_per_character"]
        == (whole.summary["bits_per_character"])
    )
    assert model_file(tmp_path / "run", 12) == model_file(tmp_path / "whole", 12)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("torch", marks=needs_torch)])
def test_it_does_so_with_muon(tmp_path, text_file, engine):
    how = {"optimizer": "muon", **HOW[engine], "workers": 2, "accumulation": 2, **DIALS}
    cf.train(text_file, out=tmp_path / "whole", **how)
    with pytest.raises(Interrupted):
        cf.train(text_file, out=tmp_path / "run", reporter=StopAt(7), **how)
    resume(tmp_path / "run")
    for name in ("model", "optimizer"):
        first, second = (
            (tmp_path / run / "checkpoints" / "step-000012" / f"{name}.safetensors").read_bytes()
            for run in ("run", "whole")
        )
        assert first == second


def test_a_run_from_before_there_was_a_choice_goes_on_with_adamw(tmp_path, text_file):
    how = {"optimizer": "adamw", **DIALS}
    cf.train(text_file, out=tmp_path / "whole", **how)
    with pytest.raises(Interrupted):
        cf.train(text_file, out=tmp_path / "run", reporter=StopAt(5), **how)
    change_configuration(tmp_path / "run", lambda document: document["training"].pop("optimizer"))
    resume(tmp_path / "run")
    assert model_file(tmp_path / "run", 12) == model_file(tmp_path / "whole", 12)
    written = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert written["training"]["optimizer"] == "adamw"


def test_the_optimizer_cannot_change_on_the_way(stopped):
    for optimizer in OPTIMIZERS:
        assert "--optimizer" in refused(ConfigurationError, resume, stopped, optimizer=optimizer)


def test_it_says_where_it_goes_on(stopped):
    told = Told()
    resume(stopped, reporter=told)
    assert "going on after step 5" in told.notes


def test_a_run_given_its_text_directly_needs_it_again(tmp_path):
    with pytest.raises(Interrupted):
        cf.train(TEXT, out=tmp_path / "run", reporter=StopAt(5), **DIALS)
    assert "name it yourself" in refused(RunError, resume, tmp_path / "run")
    assert cf.train(TEXT, out=tmp_path / "run", resume=True).step == 12


def test_a_text_that_moved_can_be_named_again(tmp_path, stopped, text_file):
    moved = tmp_path / "moved.txt"
    text_file.rename(moved)
    assert "does not exist" in refused(RunError, resume, stopped)
    assert cf.train(moved, out=stopped, resume=True).step == 12


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_text_that_became_a_pipe_is_not_waited_for(monkeypatch, stopped, text_file):
    def wait(path):
        raise AssertionError("the writer is waited for")

    monkeypatch.setattr(type(text_file), "read_bytes", wait)
    text_file.unlink()
    os.mkfifo(text_file)
    assert "is a pipe; name it yourself" in refused(RunError, resume, stopped)


def test_the_weights_of_a_save_are_read_once(monkeypatch, stopped):
    read, names = checkpoint.tensor_file.read, []

    def counted(path):
        names.append(path.name)
        return read(path)

    monkeypatch.setattr(checkpoint.tensor_file, "read", counted)
    resume(stopped)
    assert names == ["model.safetensors", "optimizer.safetensors"]


@pytest.mark.parametrize("changed", [TEXT + "x", TEXT.replace("cat", "act"), "other " * 50])
def test_a_text_that_changed_is_refused(stopped, text_file, changed):
    before = files_in(stopped)
    text_file.write_text(changed, "utf-8")
    message = refused(RunError, resume, stopped)
    assert "it has changed since, or is another" in message
    assert refused(RunError, cf.train, text_file, out=stopped, resume=True) == message
    assert files_in(stopped) == before


def test_an_empty_text_file_is_refused(stopped, text_file):
    text_file.write_text("", "utf-8")
    assert "is empty;" in refused(RunError, resume, stopped)


OTHER = [
    {"layers": 2},
    {"heads": 1},
    {"embed": 16},
    {"context": 4},
    {"dropout": 0.5},
    {"recipe": "classic"},
    {"size": "medium"},
    {"tokenizer": "words"},
    {"vocab": 300},
    {"batch": 8},
    {"accumulation": 2},
    {"learning_rate": 0.1},
    {"seed": 3},
    {"workers": 3},
]


@pytest.mark.parametrize("dials", OTHER, ids=str)
def test_other_dials_are_refused(stopped, dials):
    """By the names of their flags; they would be ignored, and the person would not notice."""
    before = files_in(stopped)
    (name,) = dials
    message = refused(ConfigurationError, resume, stopped, **dials)
    assert f"not --{name.replace('_', '-')}" in message
    assert files_in(stopped) == before


def test_more_steps_make_it_longer(stopped):
    run = resume(stopped, steps=20)
    assert run.step == 20
    assert cf.load(stopped).step == 20


def test_a_finished_run_can_go_on(run):
    assert resume(run.path, steps=15).step == 15


def test_minutes_can_end_a_run_that_had_steps(stopped):
    assert resume(stopped, minutes=2 / 60).step > 5


def test_how_often_it_saves_can_change_and_the_length_stays(stopped):
    run = resume(stopped, save_seconds=2.0)
    assert run.step == 12
    training = json.loads((stopped / "run.json").read_text("utf-8"))["training"]
    assert (training["steps"], training["save_seconds"]) == (12, 2.0)


def test_the_new_length_is_remembered_by_the_next_resume(run):
    """What Ctrl-C prints, `train --resume --out RUN`, must go on to the length asked for."""
    with pytest.raises(Interrupted):
        resume(run.path, steps=30, reporter=StopAt(20))
    assert resume(run.path).step == 30


@pytest.mark.parametrize("steps", [0, -1, 2.5])
def test_a_length_that_is_none_is_refused(stopped, steps):
    before = files_in(stopped)
    assert "steps" in refused(ConfigurationError, resume, stopped, steps=steps)
    assert files_in(stopped) == before


def test_steps_and_minutes_together_are_refused(stopped):
    assert "not both" in refused(ConfigurationError, resume, stopped, steps=9, minutes=1.0)


def test_less_time_than_was_trained_is_refused_and_not_remembered(tmp_path, text_file):
    run = cf.train(text_file, out=tmp_path / "run", **{**DIALS, "steps": None, "minutes": 0.3 / 60})
    before = (run.path / "run.json").read_bytes()
    with pytest.raises(ConfigurationError, match=r"has trained for 0\.\d+ minutes already; got"):
        resume(run.path, minutes=0.1 / 60)
    assert (run.path / "run.json").read_bytes() == before
    assert resume(run.path, minutes=0.3 / 60).step == run.step
    assert resume(run.path).step == run.step


def test_a_finished_run_that_is_made_longer_is_evaluated_on_the_way(run, monkeypatch):
    monkeypatch.setattr(evaluation_time, "LARGEST_SHARE", math.inf)
    longer = resume(run.path, steps=60)
    log = [json.loads(line) for line in (run.path / "log.jsonl").read_text("utf-8").splitlines()]
    steps = [line["step"] for line in log if "validation_loss" in line]
    assert [step for step in steps if step > 12] == [24, 36, 48, 60]
    assert longer.step == 60


def test_fewer_steps_than_made_are_refused_and_not_remembered(run):
    before = (run.path / "run.json").read_bytes()
    with pytest.raises(ConfigurationError, match="has made 12 steps already; got steps=3"):
        resume(run.path, steps=3)
    assert (run.path / "run.json").read_bytes() == before


def test_a_finished_run_resumed_gives_its_result_again(run):
    again = resume(run.path)
    assert again.step == 12
    assert again.summary["validation_loss"] == pytest.approx(run.summary["validation_loss"])
    assert model_file(run.path, 12) == model_file(run.path, again.step)


def test_a_run_without_a_save_starts_from_the_beginning(tmp_path, run, text_file):
    """Killed after run.json was written and before the first save."""
    young = tmp_path / "young"
    young.mkdir()
    for name in ("run.json", "tokenizer.json"):
        shutil.copy(run.path / name, young / name)
    assert resume(young).step == 12
    assert model_file(young, 12) == model_file(run.path, 12)


def test_resuming_what_is_no_run_is_refused_and_makes_nothing(tmp_path):
    assert "there is no run" in refused(RunError, resume, tmp_path / "none")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "folder").mkdir()
    assert "not a run" in refused(RunError, resume, tmp_path / "folder")
    assert list((tmp_path / "folder").iterdir()) == []


def test_resuming_nothing_in_particular_is_refused():
    assert "--out RUN" in refused(ConfigurationError, cf.train, resume=True)


def test_a_torn_save_is_passed_over_and_told(stopped):
    """The newest save lost its last bytes; the one before is gone on with."""
    newest = stopped / "checkpoints" / "step-000005"
    older = stopped / "checkpoints" / "step-000004"
    saved = checkpoint.load_checkpoint(newest)
    shutil.copytree(newest, older)
    manifest = json.loads((older / "manifest.json").read_text())
    manifest["step"] = 4
    state = json.dumps({**saved.state, "step": 4}).encode()
    (older / "state.json").write_bytes(state)
    manifest["files"]["state.json"] = {
        "bytes": len(state),
        "sha256": hashlib.sha256(state).hexdigest(),
    }
    (older / "manifest.json").write_text(json.dumps(manifest))
    with (newest / "model.safetensors").open("r+b") as file:
        file.truncate(100)
    told = Told()
    assert resume(stopped, reporter=told).step == 12
    assert any("step-000005 was passed over" in note for note in told.notes)
    assert "going on after step 4" in told.notes


def test_leftovers_of_an_interrupted_save_are_removed_and_told(stopped):
    (stopped / "checkpoints" / "step-000006.tmp").mkdir()
    told = Told()
    resume(stopped, reporter=told)
    assert any("step-000006.tmp" in note for note in told.notes)
    assert not (stopped / "checkpoints" / "step-000006.tmp").exists()


def test_on_a_machine_that_is_too_small_it_is_the_memory_that_is_named(stopped, monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 1000)
    message = refused(ConfigurationError, resume, stopped)
    assert "1000 bytes" in message
    assert "damaged" not in message
