"""Laws of a session: stopped or killed at any step it goes on bit for bit; NaN is never saved."""

import copy
import itertools
import json
import math
import signal
import time
from dataclasses import replace

import numpy as np
import pytest

from clearformer.engines.kernels import tell
from clearformer.errors import NotFiniteError, RunError
from clearformer.training import evaluation, evaluation_time, objective
from clearformer.training import session as sessions
from clearformer.training.checkpoint import load_latest, save_checkpoint
from clearformer.training.events import Reporter
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions
from clearformer.training.run_folder import RunFolder
from clearformer.training.session import Session
from training import tiny

STEPS = 24
"""One and a half times through the text: 64 windows, 4 in a batch."""

TIMES = ("seconds", "other_seconds")


class At(Reporter):
    """Does something after a step, at the moment a person or a fault would."""

    def __init__(self, step, action):
        self.number, self.action = step, action

    def step(self, step):
        if step.step == self.number:
            self.action()


class Killed(Exception):
    """Stands for a process that ends without another word."""


def kill():
    raise Killed


def stop_at(step):
    return At(step, lambda: signal.raise_signal(signal.SIGINT))


def session(path, ready=None, reporter=None, *, workers=1, sample=None, **options):
    """A session in `path`; if there is a save it goes on from it."""
    ready = ready or tiny.prepared()
    chosen = TrainingOptions(**{"steps": STEPS, "batch": 4, "save_seconds": 1000.0, **options})
    pupil = tiny.learner(ready, workers=workers, seed=chosen.seed)
    folder = RunFolder.open(path) if path.exists() else RunFolder.create(path)
    if not (path / "run.json").exists():
        folder.write_configuration({"test": True})
    made = Session(
        folder, ready, chosen, pupil, objective_of(ready.model), reporter or Reporter(), sample
    )
    if (path / "checkpoints").exists():
        made.restore(load_latest(path / "checkpoints"))
    return made


def saved(path):
    """Weights and optimizer as SHA-256, and what else the next step depends on."""
    save = load_latest(path / "checkpoints")
    rest = {name: value for name, value in save.state.items() if name not in TIMES}
    return tiny.digest(save.model), tiny.digest(save.optimizer), rest


@pytest.fixture
def eager(monkeypatch):
    """Saves after every step."""
    monkeypatch.setattr(sessions, "LARGEST_SAVE_SHARE", 1e9)
    return {"save_seconds": 1e-9}


@pytest.fixture
def thorough(monkeypatch):
    """Evaluates as often as asked, however long it takes."""
    monkeypatch.setattr(evaluation_time, "LARGEST_SHARE", math.inf)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("accumulation", [1, 3])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_a_stopped_and_resumed_run_equals_an_uninterrupted_one(
    tmp_path, dropout, accumulation, workers
):
    options = {"workers": workers, "accumulation": accumulation, "seed": 7}
    ready = tiny.prepared(dropout=dropout)
    session(tmp_path / "whole", ready, **options).run()
    for step in (1, 5, 19):  # the first and the second in the first epoch, the third in the next
        stopped = session(tmp_path / "parts", ready, stop_at(step), **options).run()
        assert stopped == signal.SIGINT
        assert load_latest(tmp_path / "parts" / "checkpoints").step == step
    assert session(tmp_path / "parts", ready, **options).run() is None
    assert saved(tmp_path / "parts") == saved(tmp_path / "whole")


def test_the_files_of_both_are_the_same_bytes(tmp_path):
    session(tmp_path / "whole").run()
    session(tmp_path / "parts", None, stop_at(10)).run()
    session(tmp_path / "parts").run()
    for name in ("model.safetensors", "optimizer.safetensors"):
        one, other = (
            (tmp_path / run / "checkpoints" / f"step-{STEPS:06}" / name).read_bytes()
            for run in ("whole", "parts")
        )
        assert one == other


@pytest.mark.parametrize("step", [1, 2, 11, STEPS])
def test_a_killed_run_resumes_from_its_last_save_to_the_same_end(tmp_path, eager, step):
    session(tmp_path / "whole").run()
    with pytest.raises(Killed):
        session(tmp_path / "killed", None, At(step, kill), **eager).run()
    if step > 1:
        assert load_latest(tmp_path / "killed" / "checkpoints").step == step - 1
    session(tmp_path / "killed").run()
    assert saved(tmp_path / "killed") == saved(tmp_path / "whole")


def written(path):
    return "It wrote this."


def test_a_save_that_takes_the_rest_of_the_time_leaves_the_end_as_it_is(
    tmp_path, eager, monkeypatch
):
    """No step has known that it was the last: it is logged, judged and sampled all the same."""
    save = Session.save

    def slow(self):
        save(self)
        self.loop.other_seconds += 3600

    monkeypatch.setattr(Session, "save", slow)
    given = {"steps": None, "minutes": 60.0, "evaluations": 1}
    made = session(tmp_path / "run", None, sample=written, **eager, **given)
    assert made.run() is None
    *_, trained, judged = made.folder.read_log()
    assert made.loop.step == trained["step"] == judged["step"]
    assert made.evaluation.loss == judged["validation_loss"]
    assert "It wrote this." in (tmp_path / "run" / "samples.txt").read_text("utf-8")


def test_a_finished_run_that_is_resumed_writes_nothing_again(tmp_path):
    session(tmp_path / "run", None, sample=written).run()
    before = (tmp_path / "run" / "log.jsonl").read_bytes()
    again = session(tmp_path / "run", None, sample=written)
    assert again.run() is None
    assert again.evaluation is not None
    assert (tmp_path / "run" / "log.jsonl").read_bytes() == before


def test_after_a_kill_every_line_of_the_log_is_there_once(tmp_path, eager, thorough, monkeypatch):
    """The killed session wrote lines beyond its last save; the resumed one writes them again."""
    monkeypatch.setattr(sessions, "LOG_SECONDS", 0.0)
    run, save = tmp_path / "run", Session.save
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Session, "save", lambda self: save(self) if self.loop.step < 6 else None)
        session(run, None, At(15, kill), sample=written, evaluations=6, **eager).run()
    assert load_latest(run / "checkpoints").step == 5
    session(run, sample=written, evaluations=6).run()
    lines = RunFolder.open(run).read_log()
    assert [line["step"] for line in lines if "train_loss" in line] == list(range(1, STEPS + 1))
    evaluated = [line["step"] for line in lines if "validation_loss" in line]
    assert evaluated == [4, 8, 12, 16, 20, 24]


def test_a_step_that_is_also_evaluated_is_logged_once(tmp_path):
    session(tmp_path / "run", steps=1).run()
    lines = RunFolder.open(tmp_path / "run").read_log()
    assert [sorted(line)[-1] for line in lines] == ["train_loss", "validation_perplexity"]


def test_after_a_kill_every_sample_is_there_once(tmp_path, eager, thorough, monkeypatch):
    run, save = tmp_path / "run", Session.save
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Session, "save", lambda self: save(self) if self.loop.step < 6 else None)
        session(run, None, At(15, kill), sample=written, evaluations=6, **eager).run()
    session(run, sample=written, evaluations=6).run()
    headers = [line for line in (run / "samples.txt").read_text().splitlines() if "===" in line]
    assert headers == [f"=== step {number} ===" for number in (4, 8, 12, 16, 20, 24)]


def test_a_finished_run_resumed_is_as_it_was(tmp_path):
    session(tmp_path / "run", sample=written).run()
    before = saved(tmp_path / "run")
    files = {name: (tmp_path / "run" / name).read_bytes() for name in ("log.jsonl", "samples.txt")}
    again = session(tmp_path / "run", sample=written)
    assert again.run() is None
    assert again.summary()["validation_loss"] == pytest.approx(
        json.loads(files["log.jsonl"].splitlines()[-1])["validation_loss"]
    )
    assert saved(tmp_path / "run") == before
    for name, content in files.items():
        assert (tmp_path / "run" / name).read_bytes() == content, f"{name} grew"


def test_a_finished_run_can_go_on_for_longer(tmp_path):
    session(tmp_path / "run").run()
    longer = session(tmp_path / "run", steps=STEPS + 10)
    longer.run()
    assert longer.loop.step == STEPS + 10
    assert load_latest(tmp_path / "run" / "checkpoints").step == STEPS + 10


def test_saves_come_while_training_and_two_are_kept(tmp_path, eager):
    heard = Heard()
    session(tmp_path / "run", None, heard, **eager).run()
    assert [step for kind, step in heard.events if kind == "saved"] == list(range(1, STEPS + 1))
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert names == ["step-000023", "step-000024"]


def test_saves_keep_to_their_share_of_the_time(tmp_path, monkeypatch):
    """By this clock a save takes a second, as each step does: it may come every 50 seconds."""
    monkeypatch.setattr(sessions.time, "monotonic", itertools.count(step=1.0).__next__)
    heard = Heard()
    session(tmp_path / "run", None, heard, save_seconds=1e-9).run()
    assert len([kind for kind, _ in heard.events if kind == "saved"]) <= 3


# What is not finite.


def injure(made, name="blocks.1.attention.key.weight"):
    made.learner.named(made.learner.parameters)[name][0, 0] = math.nan


def require_finite_save(path, step):
    save = load_latest(path / "checkpoints")
    assert save.step == step
    assert save.notes == ()
    for name, array in {**save.model, **save.optimizer}.items():
        assert np.isfinite(array).all(), name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loss_that_is_not_finite_keeps_the_last_save(tmp_path, eager):
    session(tmp_path / "run", None, stop_at(6), **eager).run()
    before = saved(tmp_path / "run")
    made = session(tmp_path / "run", **eager)
    injure(made)
    with pytest.raises(NotFiniteError, match=r"is blocks\.1\.attention\.key\.weight"):
        made.run()
    assert saved(tmp_path / "run") == before
    require_finite_save(tmp_path / "run", 6)
    session(tmp_path / "run").run()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("step", [6, STEPS])
def test_weights_that_an_update_broke_are_never_saved(tmp_path, eager, step):
    """Gradients are checked before the update, but an update itself can overflow, too."""
    reporter = At(step, lambda: injure(made))
    made = session(tmp_path / "run", None, reporter, **eager)
    with pytest.raises(NotFiniteError, match=r"blocks\.1\.attention\.key\.weight"):
        made.run()
    require_finite_save(tmp_path / "run", step - 1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ctrl_c_does_not_save_weights_that_are_not_finite(tmp_path, eager):
    def break_and_stop():
        injure(made)
        signal.raise_signal(signal.SIGINT)

    made = session(tmp_path / "run", None, At(6, break_and_stop), **eager)
    with pytest.raises(NotFiniteError):
        made.run()
    require_finite_save(tmp_path / "run", 5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("step", [6, STEPS])
def test_a_validation_loss_that_is_not_finite_is_told_as_such(tmp_path, eager, thorough, step):
    """All weights are finite, but what they make of the validation part is not."""

    def enlarge():
        weights = made.learner.named(made.learner.parameters)
        weights["output.linear.weight"][:, 0] = 3e38

    made = session(tmp_path / "run", None, At(step, enlarge), evaluations=4, **eager)
    with pytest.raises(NotFiniteError) as caught:
        made.run()
    assert "log.jsonl" not in str(caught.value)
    require_finite_save(tmp_path / "run", step - 1)


# What it leaves and tells.


class Heard(Reporter):
    """Keeps the order of what was told."""

    def __init__(self):
        self.events, self.notes = [], []

    def note(self, text):
        self.notes.append(text)

    def step(self, step):
        self.events.append(("step", step.step))

    def evaluated(self, step, evaluation):
        self.events.append(("evaluated", step))

    def sampled(self, step, text):
        self.events.append(("sampled", step))

    def saved(self, step):
        self.events.append(("saved", step))


def test_it_evaluates_samples_and_saves_in_this_order(tmp_path, thorough):
    heard = Heard()
    session(tmp_path / "run", None, heard, steps=4, evaluations=2, sample=written).run()
    assert heard.events == [
        ("step", 1),
        ("step", 2),
        ("evaluated", 2),
        ("sampled", 2),
        ("step", 3),
        ("step", 4),
        ("evaluated", 4),
        ("sampled", 4),
        ("saved", 4),
    ]


@pytest.mark.parametrize("compiles", [False, True])
def test_a_sample_for_which_a_kernel_is_compiled_takes_none_of_the_time(tmp_path, compiles):
    """Else the rest of a short run would be gone with it."""

    def sample(model):
        if compiles:
            tell("compiling a kernel for tests")
        time.sleep(0.3)
        return "a sample"

    made = session(tmp_path / "run", sample=sample, steps=4, evaluations=1)
    made.run()
    assert (made.loop.other_seconds < 0.3) == compiles


def test_a_log_that_cannot_be_written_costs_no_step(tmp_path, thorough, monkeypatch):
    made = session(tmp_path / "run", None, steps=4, evaluations=1)

    def refuse(entry):
        if "validation_loss" in entry:
            raise RunError("no space")

    monkeypatch.setattr(made.folder, "log", refuse)
    with pytest.raises(RunError, match="no space"):
        made.run()
    assert load_latest(made.folder.checkpoints).step == 4


@pytest.mark.parametrize("steps, evaluations", [(20, 4), (7, 3), (3, 5), (1, 5), (10, 1)])
def test_evaluations_are_spread_over_the_run_and_the_last_is_at_its_end(
    tmp_path, thorough, steps, evaluations
):
    heard = Heard()
    session(tmp_path / "run", None, heard, steps=steps, evaluations=evaluations).run()
    expected = {-(-steps * number // evaluations) for number in range(1, evaluations + 1)}
    assert [step for kind, step in heard.events if kind == "evaluated"] == sorted(expected)


def test_each_line_of_the_log_is_one_json_object_with_its_units(tmp_path, thorough):
    made = session(tmp_path / "run", sample=written)
    made.run()
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    for line in lines:
        assert set(line) in (
            {
                "step",
                "train_loss",
                "learning_rate",
                "gradient_norm",
                "clipped_norm",
                "tokens_seen",
                "tokens_per_second",
                "seconds",
            },
            {"step", "validation_loss", "validation_perplexity", "bits_per_character", "seconds"},
        )
    steps = [line["step"] for line in lines]
    assert (steps[0], steps[-1]) == (1, STEPS)
    assert steps == sorted(steps)
    summary = made.summary()
    assert {name: lines[-1][name] for name in ("validation_loss", "bits_per_character")} == {
        name: summary[name] for name in ("validation_loss", "bits_per_character")
    }
    for line in lines:
        if "train_loss" in line:
            assert line["tokens_seen"] == line["step"] * 4 * 8


def test_samples_are_written_with_their_steps(tmp_path, thorough):
    session(tmp_path / "run", steps=4, evaluations=2, sample=written).run()
    text = (tmp_path / "run" / "samples.txt").read_text("utf-8")
    assert text == "=== step 2 ===\nIt wrote this.\n\n=== step 4 ===\nIt wrote this.\n\n"


def test_the_summary_has_the_names_of_the_contract(tmp_path):
    made = session(tmp_path / "run")
    made.run()
    summary = made.summary()
    assert set(summary) >= {
        "run",
        "parameters",
        "vocabulary",
        "steps",
        "tokens_seen",
        "seconds",
        "train_loss",
        "validation_loss",
        "validation_perplexity",
        "bits_per_character",
    }
    assert summary["parameters"] == len(made.learner.parameters)
    assert summary["tokens_seen"] == STEPS * 4 * 8
    assert summary["validation_perplexity"] == pytest.approx(math.exp(summary["validation_loss"]))


def test_without_a_validation_part_there_is_no_validation_loss(tmp_path):
    made = session(tmp_path / "run", tiny.prepared("abcdefghij", context=4), sample=written)
    made.run()
    names = ("validation_loss", "validation_perplexity", "bits_per_character")
    assert [made.summary()[name] for name in names] == [None, None, None]
    assert (tmp_path / "run" / "samples.txt").exists()


# A save that does not belong to the run.


def altered(path, change):
    """The last save again, one step later, with something changed."""
    save = load_latest(path / "checkpoints")
    model, optimizer, state = dict(save.model), dict(save.optimizer), copy.deepcopy(save.state)
    change(model, optimizer, state)
    save_checkpoint(
        path / "checkpoints", save.step + 1, model=model, optimizer=optimizer, state=state
    )


def refused(path):
    with pytest.raises(RunError) as caught:
        session(path)
    assert "\n" not in str(caught.value)
    assert "step-0000" in str(caught.value)


@pytest.fixture
def stopped(tmp_path):
    session(tmp_path / "run", None, stop_at(5)).run()
    return tmp_path / "run"


KEYS = ("step", "tokens_seen", "seconds", "recent_loss", "evaluations", "batches")


def test_the_state_has_these_names(stopped):
    assert set(load_latest(stopped / "checkpoints").state) >= {*KEYS}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["missing", "x", [], {}, [1], {"a": 1}], ids=str)
def test_a_state_that_lacks_a_name_or_has_it_wrong_is_refused(stopped, key, value):
    def change(model, optimizer, state):
        state[key] = value
        if value == "missing":
            del state[key]

    altered(stopped, change)
    refused(stopped)


@pytest.mark.parametrize("key", ["step", "tokens_seen", "evaluations", "seconds"])
@pytest.mark.parametrize("value", [None, -1, True, "7"], ids=str)
def test_a_count_that_is_no_count_is_refused(stopped, key, value):
    altered(stopped, lambda model, optimizer, state: state.update({key: value}))
    refused(stopped)


def test_a_state_of_another_step_than_its_save_is_refused(stopped):
    altered(stopped, lambda model, optimizer, state: state.update(step=4))
    refused(stopped)


@pytest.mark.parametrize("part", ["model", "optimizer"])
@pytest.mark.parametrize("fault", ["missing", "shape", "dtype", "more"])
def test_arrays_of_another_model_are_refused(stopped, part, fault):
    def change(model, optimizer, state):
        arrays = model if part == "model" else optimizer
        name = next(name for name in arrays if name.endswith("key.weight"))
        if fault == "missing":
            del arrays[name]
        elif fault == "shape":
            arrays[name] = arrays[name][:-1]
        elif fault == "dtype":
            arrays[name] = arrays[name].astype(np.int64)
        else:
            arrays["another"] = arrays[name]

    altered(stopped, change)
    refused(stopped)


def test_a_save_of_another_text_is_refused(stopped):
    ready = tiny.prepared()
    with pytest.raises(RunError, match="tokens"):
        session(stopped, replace(ready, train=ready.train[:-3]))


class AtEvaluation(Reporter):
    """Asks to stop while the validation loss is measured."""

    def __init__(self):
        self.measured = 0

    def evaluating(self, step):
        signal.raise_signal(signal.SIGINT)

    def evaluated(self, step, evaluation):
        self.measured += 1


def test_who_asks_to_stop_does_not_wait_for_an_evaluation(tmp_path, thorough):
    reporter = AtEvaluation()
    assert session(tmp_path / "run", reporter=reporter).run() == signal.SIGINT
    assert reporter.measured == 0
    assert session(tmp_path / "run").run() is None
    session(tmp_path / "whole").run()
    assert saved(tmp_path / "run") == saved(tmp_path / "whole")


def test_an_evaluation_that_would_use_up_the_run_is_left_and_made_at_its_end(tmp_path, monkeypatch):
    """After each piece of it the clock has gone on by a minute."""
    now = [0.0]
    monkeypatch.setattr(sessions.time, "monotonic", lambda: now[0])
    whole = evaluation.next_token_loss

    def slow(*arguments):
        now[0] += 60.0
        return whole(*arguments)

    monkeypatch.setattr(evaluation, "next_token_loss", slow)
    monkeypatch.setattr(objective, "rows_for", lambda *_: 1)
    heard = Heard()
    session(tmp_path / "run", None, heard, steps=20, evaluations=4, sample=written).run()
    assert [step for kind, step in heard.events if kind == "evaluated"] == [20]
    (note,) = [note for note in heard.notes if "measured at the end only" in note]
    assert "would take about 7.1 minutes" in note  # 57 predictions in windows of 8
    assert [step for kind, step in heard.events if kind == "sampled"] == [5, 20]


def test_a_sample_that_cannot_be_drawn_says_what_to_do(tmp_path, thorough):
    def sample(model):
        raise NotFiniteError("the largest of the logits must be a finite number; got nan")

    with pytest.raises(
        NotFiniteError, match=r"no sample could be written .* not finite is logits;"
    ):
        session(tmp_path / "run", sample=sample).run()
