"""Going on with a run on another engine, on another machine, or with a run.json of before."""

import json
from dataclasses import asdict

import pytest

import clearformer as cf
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError, Interrupted, RunError
from clearformer.runs import fitting, resuming
from clearformer.training.options import OPTIMIZERS
from engines.runners import needs_torch
from runs.test_engines import ENGINES, HOW
from runs.tiny import DIALS, StopAt, Told, change_configuration, files_in, refused

pytestmark = needs_torch

STEPS = DIALS["steps"]


def how_it_is_computed(path):
    """What run.json tells of it."""
    document = json.loads((path / "run.json").read_text("utf-8"))
    return Execution(**{name: document[name] for name in asdict(Execution())})


def stopped_after(step, text, path, **how):
    """A run that somebody stopped."""
    with pytest.raises(Interrupted):
        cf.train(text, out=path, reporter=StopAt(step), **how, **DIALS)
    return path


def resume(path, **options):
    return cf.train(out=path, resume=True, **options)


@pytest.fixture
def on_torch(tmp_path, text_file):
    """A run that was stopped half way."""
    return stopped_after(5, text_file, tmp_path / "run", **HOW["torch"])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("first", "recipe"), [("numpy", "modern"), ("torch", "classic")])
def test_it_ends_where_one_engine_would_have_ended_alone(
    tmp_path, text_file, first, recipe, optimizer
):
    second = ENGINES[1 - ENGINES.index(first)]
    how = {"recipe": recipe, "optimizer": optimizer, **HOW[first]}
    whole = cf.train(text_file, out=tmp_path / "whole", **how, **DIALS)
    path = stopped_after(5, text_file, tmp_path / "run", **how)
    with pytest.raises(Interrupted):
        resume(path, reporter=StopAt(9), **HOW[second])
    assert how_it_is_computed(path).engine == second
    versions = json.loads((path / "run.json").read_text("utf-8"))["versions"]
    assert versions.keys() == {"clearformer", "python", "numpy", second}
    run = resume(path)  # where it was last
    assert how_it_is_computed(path).engine == second
    assert run.step == whole.step == STEPS
    for name in ("train_loss", "validation_loss", "bits_per_character"):
        assert run.summary[name] == pytest.approx(whole.summary[name], abs=1e-5)
    assert run.summary["tokens_seen"] == whole.summary["tokens_seen"]


def test_on_one_engine_it_ends_with_the_same_bits(tmp_path, text_file, on_torch):
    cf.train(text_file, out=tmp_path / "whole", **HOW["torch"], **DIALS)
    resume(on_torch)
    for name in ("model", "optimizer"):
        file = f"checkpoints/step-{STEPS:06}/{name}.safetensors"
        assert (on_torch / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


def test_it_is_asked_whether_it_fits_where_it_will_go_on(on_torch, monkeypatch):
    """Not on the best device there is, nor in another precision than before."""
    from clearformer.engines.torch import devices

    wishes = []

    def heard(wish, *rest):
        wishes.append(wish)
        return fitting.fitting(wish, *rest)

    monkeypatch.setattr(devices, "_there", lambda: {"cpu": 1, "cuda": 1, "mps": 0})
    monkeypatch.setattr(resuming, "fitting", heard)
    assert resume(on_torch).step == STEPS
    assert [(wish.device, wish.precision) for wish in wishes] == [("cpu", "float32")]


OLD = ("device", "precision", "compiled", "ranks", "parallel")


def test_a_run_of_before_there_were_devices_goes_on(tmp_path, text_file):
    whole = cf.train(text_file, out=tmp_path / "whole", **DIALS)
    path = stopped_after(5, text_file, tmp_path / "run")
    change_configuration(path, lambda document: [document.pop(name) for name in OLD])
    run = resume(path)
    assert run.summary["validation_loss"] == whole.summary["validation_loss"]
    assert how_it_is_computed(path) == how_it_is_computed(tmp_path / "whole")


def test_so_it_does_on_another_engine(tmp_path, text_file):
    path = stopped_after(5, text_file, tmp_path / "run")
    change_configuration(path, lambda document: [document.pop(name) for name in OLD])
    assert resume(path, **HOW["torch"]).step == STEPS
    assert how_it_is_computed(path).engine == "torch"


@pytest.fixture
def it_pays(monkeypatch):
    """A machine on which everything pays, and where what is traced counts as compiled."""
    from clearformer.engines import torch as engine
    from clearformer.engines.torch import compiling, settling

    monkeypatch.setattr(settling, "_measure", lambda _: (9.0, 1.0))
    for module in (engine, settling):
        monkeypatch.setattr(module, "obstacle", lambda _: None)
    monkeypatch.setattr(compiling.torch, "compile", lambda graph, **_: graph)


def test_precision_and_compiling_are_kept_unless_something_else_is_asked(on_torch, it_pays):
    before = how_it_is_computed(on_torch)
    assert (before.precision, before.compiled) == ("float32", False)
    resume(on_torch)
    assert how_it_is_computed(on_torch) == before
    resume(on_torch, precision="bfloat16", compiled=True, steps=STEPS + 2)
    assert how_it_is_computed(on_torch).precision == "bfloat16"
    resume(on_torch, steps=STEPS + 4)
    after = how_it_is_computed(on_torch)
    assert (after.precision, after.compiled) == ("bfloat16", True)


def test_what_pays_is_decided_once_a_run_changes_its_engine(tmp_path, text_file, it_pays):
    path = stopped_after(5, text_file, tmp_path / "run")
    told = Told()
    resume(path, engine="torch", reporter=told)
    found = how_it_is_computed(path)
    assert (found.precision, found.compiled) == ("bfloat16", True)
    assert any("products in bfloat16 (9.0 times as quick" in note for note in told.notes)


def test_a_run_from_a_gpu_goes_on_here_and_says_so(on_torch, monkeypatch):
    from clearformer.engines.torch import devices

    monkeypatch.setattr(devices, "_there", lambda: {"cpu": 1, "cuda": 0, "mps": 0})
    monkeypatch.setattr("clearformer.runs.machine.workers_for", lambda *_: 3)
    change_configuration(on_torch, lambda document: document.update(device="cuda", workers=1))
    told = Told()
    assert resume(on_torch, reporter=told).step == STEPS
    assert "the run was on cuda, which is not here" in told.notes
    found = how_it_is_computed(on_torch)
    assert (found.device, found.workers) == ("cpu", 3), "one thread was enough beside a GPU"


def test_the_number_of_threads_is_kept_on_a_processor(on_torch, monkeypatch):
    """With another number of them the sums would be rounded otherwise."""
    monkeypatch.setattr("clearformer.runs.machine.workers_for", lambda *_: 3)
    before = how_it_is_computed(on_torch).workers
    assert before != 3
    resume(on_torch)
    resume(on_torch, engine="numpy", steps=STEPS + 1)
    assert how_it_is_computed(on_torch).workers == before


@pytest.mark.parametrize("asked", [{"device": "cuda"}, {"device": "cuda:7"}])
def test_a_device_that_is_asked_for_and_not_here_is_refused_and_changes_nothing(on_torch, asked):
    from clearformer.engines.torch import devices

    if devices.is_here(asked["device"]):
        pytest.skip("this machine has it")
    before = files_in(on_torch)
    message = refused(ConfigurationError, resume, on_torch, **asked)
    assert f"finds no device {asked['device']} here; there is: cpu" in message
    assert files_in(on_torch) == before


DAMAGED = [
    ("engine", "abacus"),
    ("device", "tpu"),
    ("device", None),
    ("device", "cuda:-1"),
    ("precision", "float16"),
    ("precision", 32),
    ("compiled", "yes"),
    ("compiled", 1),
    ("parallel", "both"),
    ("workers", 0),
    ("ranks", 0),
    ("ranks", "2"),
]


@pytest.mark.parametrize(("key", "value"), DAMAGED)
def test_what_run_json_cannot_mean_is_refused(on_torch, key, value):
    change_configuration(on_torch, lambda document: document.update({key: value}))
    before = files_in(on_torch)
    for engine in (None, "numpy", "torch"):
        message = refused(RunError, resume, on_torch, engine=engine)
        assert "run.json is damaged" in message
        assert key in message
    assert files_in(on_torch) == before


@pytest.mark.parametrize(("key", "value"), [("device", "cuda"), ("precision", "bfloat16")])
def test_a_run_of_numpy_on_a_gpu_is_none(tmp_path, text_file, key, value):
    path = stopped_after(5, text_file, tmp_path / "run")
    change_configuration(path, lambda document: document.update({key: value}))
    assert "damaged" in refused(RunError, resume, path)


ASKED = [
    ({"device": "cuda"}, "the engine numpy has device cpu only"),
    ({"engine": "numpy", "precision": "bfloat16"}, "precision float32 only"),
    ({"compiled": True}, "compiles nothing"),
    ({"engine": "abacus"}, "engine must be one of numpy, torch"),
    ({"engine": "torch", "device": "tpu"}, "device must be one of"),
    ({"engine": "torch", "precision": "float16"}, "precision must be one of float32, bfloat16"),
    ({"engine": "torch", "parallel": "both"}, "parallel must be one of"),
    ({"engine": "torch", "compiled": "yes"}, "compiled must be one of"),
]


@pytest.mark.parametrize(("asked", "told"), ASKED, ids=str)
def test_what_cannot_be_is_refused_before_the_text_is_read(
    tmp_path, text_file, monkeypatch, asked, told
):
    """To cut a large text takes minutes."""

    def read(*_):
        raise AssertionError("the text was read")

    monkeypatch.setattr(resuming, "material_of", read)
    message = refused(ConfigurationError, cf.train, text_file, out=tmp_path / "run", **asked)
    assert told in message
    assert not (tmp_path / "run").exists()


def test_dropout_with_compiling_is_refused_and_leaves_nothing(tmp_path, text_file):
    message = refused(
        ConfigurationError, cf.train, text_file, out=tmp_path / "run",
        engine="torch", compiled=True, dropout=0.1, **DIALS,
    )  # fmt: skip
    assert "dropout" in message
    assert not (tmp_path / "run").exists()
