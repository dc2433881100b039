"""The same decoder on PyTorch: its laws hold there too, and it says what it says on NumPy."""

import numpy as np
import pytest

from clearformer.engines.dispatch import array_of
from clearformer.models.cache import KeyValueCache
from clearformer.models.tap import Recorder
from models.decoders import VARIANTS, both_recipes, every_variant, random_decoder, random_ids

torch = pytest.importorskip("torch", reason="the PyTorch engine needs PyTorch (extra torch)")

from clearformer.engines.torch import devices  # noqa: E402

pytestmark = pytest.mark.usefixtures("unchecked", "torch")

both_types = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)], ids=["float32", "float64"]
)


def twins(configuration, dtype):
    """The same decoder on NumPy and on PyTorch."""
    model = random_decoder(configuration, dtype)
    return model, devices.moved(model, "cpu")


def heard(model, ids, **edits):
    listener = Recorder(edits)
    model(ids, tap=listener)
    return {name: array_of(x) for name, x in listener.seen.items()}


@every_variant
@both_types
def test_every_step_is_that_of_numpy(configuration, dtype, tolerance):
    ids = random_ids(configuration, 2, configuration.context)
    wanted, found = (heard(model, ids) for model in twins(configuration, dtype))
    assert list(found) == list(wanted)
    for name, x in wanted.items():
        assert found[name].dtype == dtype
        # what is rounded in scores of up to 16 comes out of the softmax several times as large
        near = 3 * tolerance
        np.testing.assert_allclose(found[name], x, rtol=near, atol=near, err_msg=name)


@every_variant
@both_types
def test_listening_changes_nothing(configuration, dtype, tolerance):
    """Who listens sees a table of weights, which PyTorch's own attention never makes."""
    _, model = twins(configuration, dtype)
    ids = random_ids(configuration, 3, configuration.context)
    alone = array_of(model(ids))
    np.testing.assert_allclose(heard(model, ids)["logits"], alone, rtol=0, atol=tolerance)


@both_recipes
@both_types
def test_listening_changes_no_gradient(recipe, dtype, tolerance):
    configuration = VARIANTS[f"the {recipe} recipe"]
    _, model = twins(configuration, dtype)
    ids = random_ids(configuration, 3, 6)
    leaves = model.with_parameters(lambda _, p: p.requires_grad_()).parameters()
    found = []
    for tap in ({}, {"tap": Recorder()}):
        model(ids, **tap).square().mean().backward()
        found.append({path: array_of(leaf.grad) for path, leaf in leaves.items()})
        for leaf in leaves.values():
            leaf.grad = None
    for path, gradient in found[0].items():
        scale = max(abs(gradient).max(), 1)
        np.testing.assert_allclose(found[1][path], gradient, 0, tolerance * scale, err_msg=path)


@every_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_token_changes_no_bit_of_the_logits_before_it(configuration, dtype):
    _, model = twins(configuration, dtype)
    ids = random_ids(configuration, 2, configuration.context)
    before = array_of(model(ids))
    for place in range(configuration.context):
        changed = ids.copy()
        changed[:, place] = (changed[:, place] + 1) % configuration.vocabulary
        after = array_of(model(changed))
        assert (after[:, :place] == before[:, :place]).all()
        assert (after[:, place:] != before[:, place:]).any(-1).any(-1).all()


@both_recipes
def test_an_edit_changes_what_follows_and_nothing_before(recipe, rng):
    configuration = VARIANTS[f"the {recipe} recipe"]
    _, model = twins(configuration, np.float64)
    ids = random_ids(configuration, 2, 5)
    usual = heard(model, ids)
    names = list(usual)
    for place, name in enumerate(names):
        replaced = torch.from_numpy(usual[name] + rng.normal(size=usual[name].shape))
        seen = heard(model, ids, **{name: lambda _, replaced=replaced: replaced})
        assert list(seen) == names
        for earlier in names[:place]:
            assert (seen[earlier] == usual[earlier]).all(), f"editing {name} changed {earlier}"
        assert (seen["logits"] != usual["logits"]).any(), f"editing {name} changed nothing"


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_pieces_with_a_cache_give_what_the_whole_gives(configuration, dtype, tolerance):
    _, model = twins(configuration, dtype)
    ids = random_ids(configuration, 2, 8)
    whole = array_of(model(ids))
    for lengths in ([1] * 8, [3, 5], [5, 1, 2]):
        cache, parts, start = KeyValueCache(configuration.layers, configuration.context), [], 0
        for length in lengths:
            parts.append(array_of(model(ids[:, start : start + length], cache=cache)))
            start += length
        np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, rtol=0, atol=tolerance)
