"""Laws of a compiled loss: the same numbers; and one line where it cannot be compiled.

A model is first traced, then compiled. What was traced can be run as it is; most laws are tested
so, since compiling even a small model takes half a minute.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines import choose
from clearformer.engines.dispatch import array_of
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.part import Part
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from models.decoders import VARIANTS, both_recipes
from models.learners import batch, learner_of

torch = pytest.importorskip("torch", reason="compiling is PyTorch's (extra torch)")

from torch._dynamo.exc import BackendCompilerFailed  # noqa: E402
from torch._inductor.exc import CppCompileError, InvalidCxxCompiler  # noqa: E402

from clearformer.engines.torch import compiling  # noqa: E402

BOTH_NARROW = 2 * 9 * 2**-8
"""Each is within 9 roundings to 8 bits of what is right (see `test_learner_on_torch`)."""


ONE_LAYER = {
    recipe: replace(VARIANTS[f"the {recipe} recipe"], layers=1) for recipe in ("modern", "classic")
}


@pytest.fixture
def only_traced(monkeypatch):
    """What was traced runs as it is."""
    monkeypatch.setattr(torch, "compile", lambda graph, **_: graph)


@pytest.fixture(autouse=True)
def nothing_tried_before():
    compiling._tried.cache_clear()
    yield
    compiling._tried.cache_clear()


def compare(configuration, dtype, tolerance, workers=1, rows=(4,), steps=1, **how):
    """A compiled learner and one that is not: losses, gradients and weights of a few steps."""
    pair = [
        learner_of(configuration, "torch", dtype, workers, compiled=compiled, **how)
        for compiled in (False, True)
    ]
    optimizers = [AdamW(learner, AdamWSettings()) for learner in pair]
    for number in rows:
        arrays = batch(configuration, number)
        for step in range(1, steps + 1):
            found = []
            for learner, optimizer in zip(pair, optimizers, strict=True):
                with learner.running():
                    loss = learner.loss_and_gradients(*arrays)
                    norm = learner.gather()
                found.append((loss, norm, np.array(array_of(learner.gradients))))
                optimizer.update(step, 1e-3)
            (loss, norm, gradient), (other_loss, other_norm, other) = found
            assert other_loss == pytest.approx(loss, rel=tolerance)
            assert other_norm == pytest.approx(norm, rel=tolerance)
            assert np.linalg.norm(other - gradient) < tolerance * norm


@both_recipes
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float32, 2e-6), (np.float64, 1e-12)], ids=["float32", "float64"]
)
def test_loss_and_gradients_are_the_same(recipe, dtype, tolerance, only_traced):
    compare(VARIANTS[f"the {recipe} recipe"], dtype, tolerance, rows=(3,), steps=2)


@both_recipes
def test_so_they_are_in_bfloat16(recipe, only_traced):
    configuration = VARIANTS[f"the {recipe} recipe"]
    compare(configuration, np.float32, BOTH_NARROW, precision="bfloat16", steps=2)


def test_so_they_are_for_every_number_of_rows_and_threads(only_traced):
    compare(ONE_LAYER["modern"], np.float64, 1e-12, workers=2, rows=(3, 1, 4, 3))


def test_code_can_be_made_of_what_was_traced():
    """Of a model with few parts: each kernel takes a compiler more than a second."""
    table, gain = np.random.default_rng(0).normal(size=(5, 4)), np.ones(4)
    turn = np.exp(1j * np.arange(6).reshape(3, 2))

    @dataclass(frozen=True)
    class Tiny(Part):
        table: Any
        gain: Any

    def loss(model, inputs, targets, rng=None):
        x = ops.rotate(ops.rms_norm(ops.embed(inputs, model.table), model.gain), turn)
        return ops.cross_entropy(ops.linear(x, ops.transpose(model.table)), targets)

    ids = np.array([[0, 1, 2], [3, 4, 0]])
    found = []
    for compiled in (False, True):
        how = Execution("torch", compiled=compiled)
        learner = choose.learner_of(how, Tiny(table, gain), loss)
        with learner.running():
            found.append((learner.loss_and_gradients(ids, ids), learner.gather()))
    assert found[1] == pytest.approx(found[0], rel=1e-12)


@pytest.mark.long  # compiling takes half a minute, each time
@both_recipes
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_compiled_code_gives_the_same(recipe, precision):
    tolerance = 5e-6 if precision == "float32" else BOTH_NARROW
    configuration = VARIANTS[f"the {recipe} recipe"]
    compare(
        configuration, np.float32, tolerance, workers=2, rows=(4, 3), steps=3, precision=precision
    )


def test_ids_of_every_type_are_looked_up(only_traced):
    configuration = ONE_LAYER["modern"]
    inputs, targets = batch(configuration, 2)
    expected = learner_of(configuration, "torch").loss_and_gradients(inputs, targets)
    for dtype in (np.uint8, np.uint16, np.uint32, np.int64):
        learner = learner_of(configuration, "torch", compiled=True)
        loss = learner.loss_and_gradients(inputs.astype(dtype), targets.astype(dtype))
        assert loss == pytest.approx(expected, rel=1e-12)


def test_the_python_of_a_model_is_run_once_for_each_shape(only_traced):
    shapes = []

    def loss(model, inputs, targets, rng=None):
        shapes.append(tuple(inputs.shape))
        return next_token_loss(model, inputs, targets, rng)

    learner = learner_of(ONE_LAYER["modern"], "torch", workers=2, loss=loss, compiled=True)
    for rows in (4, 4, 3, 4, 3, 1):  # over two threads: 2 and 2, 1 and 2, none and 1
        learner.loss_and_gradients(*batch(ONE_LAYER["modern"], rows))
    assert shapes == [(2, 6), (1, 6)]


def test_a_mistake_in_the_model_stays_what_it_is(only_traced):
    def mistaken(*_):
        raise ShapeError("a mistake")

    learner = learner_of(ONE_LAYER["modern"], "torch", loss=mistaken, compiled=True)
    with pytest.raises(ShapeError, match="a mistake"):
        learner.loss_and_gradients(*batch(ONE_LAYER["modern"]))


def failing(inner):
    """What `torch.compile` gives where the compiler fails, with PyTorch's own error."""

    def compiled(*_, **__):
        def call(*_):
            raise BackendCompilerFailed(inductor, inner, None)

        return call

    def inductor():
        """Stands for PyTorch's compiler in its message."""

    return compiled


FAULTS = [
    (InvalidCxxCompiler(), "there is no C++ compiler"),
    (
        CppCompileError(["g++"], "a.cpp:3:1: note: so\na.cpp:1:9: fatal error: Python.h: missing"),
        "a.cpp:1:9: fatal error: Python.h: missing",
    ),
    (RuntimeError("the GPU\nis old"), "the GPU"),
    (RuntimeError(), "RuntimeError"),
]


@pytest.mark.parametrize(("fault", "told"), FAULTS)
def test_a_compiler_that_fails_is_told_in_one_line(fault, told, monkeypatch):
    monkeypatch.setattr(torch, "compile", failing(fault))
    learner = learner_of(ONE_LAYER["classic"], "torch", compiled=True)
    with pytest.raises(ConfigurationError) as caught:
        learner.loss_and_gradients(*batch(ONE_LAYER["classic"]))
    assert told in str(caught.value)
    assert "take --no-compile" in str(caught.value)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(compiling.shutil, "which", lambda _: "/usr/bin/g++")
    assert told in compiling.obstacle("cpu")


def test_a_missing_compiler_is_an_obstacle_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert "no C++ compiler" in compiling.obstacle("cpu")


def test_missing_code_for_a_gpu_is_an_obstacle_that_is_named(monkeypatch):
    monkeypatch.setattr(compiling, "find_spec", lambda _: None)
    assert "Triton" in compiling.obstacle("cuda:1")
