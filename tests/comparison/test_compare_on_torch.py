"""A comparison on PyTorch finds what the same finds on NumPy."""

import pytest

from clearformer.comparison.document import Comparison
from comparison.small import small, small_task
from engines.runners import needs_torch

pytestmark = [needs_torch, pytest.mark.usefixtures("unchecked_shapes")]

ENGINES = ("numpy", "torch")


@pytest.fixture(scope="module")
def by_text(unchecked_shapes) -> tuple[Comparison, ...]:
    models = ["ngram", "decoder:layers=1:heads=2", "gru:layers=1"]
    return tuple(small(models=models, seeds=1, engine=engine) for engine in ENGINES)


@pytest.fixture(scope="module")
def by_task(unchecked_shapes) -> tuple[Comparison, ...]:
    options = {"models": ["lstm:layers=1"], "seeds": 1}
    return tuple(small_task(engine=engine, **options) for engine in ENGINES)


@pytest.mark.parametrize("made", ["by_text", "by_task"])
def test_both_engines_find_the_same(made, request):
    numpy, torch = request.getfixturevalue(made)
    assert torch.machine["engine"] == "torch" and "torch" in torch.machine
    for one, other in zip(numpy.results, torch.results, strict=True):
        for name in ("model", "parameters", "tokens", "learning_rate"):
            assert getattr(one, name) == getattr(other, name)
        assert other.loss == pytest.approx(one.loss, rel=1e-3)


@pytest.mark.parametrize("made", ["by_text", "by_task"])
def test_memory_is_that_of_weights_gradients_and_averages_and_of_what_a_batch_leaves(made, request):
    numpy, torch = request.getfixturevalue(made)
    assert "tensors" in torch.machine["memory"]
    for one, other in zip(numpy.results, torch.results, strict=True):
        assert one.memory is not None and other.memory is not None
        assert other.memory < 2 * one.memory
        if other.model != "ngram":
            assert other.memory >= 4 * 4 * other.parameters
