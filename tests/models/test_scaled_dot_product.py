"""`cf.attention`: equal to PyTorch's, with the weights shown or not; rows that add up to one."""

import numpy as np
import pytest

import clearformer as cf
from clearformer import ops
from clearformer.errors import ShapeError
from clearformer.models.scaled_dot_product import steps
from clearformer.models.tap import Recorder, silent
from engines.proofs import check_against_torch, weighted_gradients, weights_like

SHAPES = {
    "one sequence": [(5, 4), (5, 4), (5, 3)],
    "batch and heads": [(2, 3, 5, 4), (2, 3, 5, 4), (2, 3, 5, 4)],
    "more keys than queries": [(2, 3, 4), (2, 6, 4), (2, 6, 2)],
    "more queries than keys": [(2, 6, 4), (2, 3, 4), (2, 3, 2)],
    "one of each": [(1, 1), (1, 1), (1, 1)],
}

every_shape = pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
causal_or_not = pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
masked_or_not = pytest.mark.parametrize("masked", [False, True], ids=["no mask", "mask"])
fast_or_shown = pytest.mark.parametrize("shown", [False, True], ids=["fast", "weights shown"])


def drawn(shapes, rng, masked):
    """Query, key, value, and a mask in which the last query may look nowhere."""
    arrays = [rng.normal(size=shape) for shape in shapes]
    if not masked:
        return arrays, None
    mask = rng.random((shapes[0][-2], shapes[1][-2])) < 0.6
    mask[-1] = False
    return arrays, mask


def mixed_of(shown, mask, causal):
    """`cf.attention` on either of its two ways, as a function of query, key and value."""

    def mixed(*qkv):
        result = cf.attention(*qkv, mask=mask, causal=causal, return_weights=shown)
        return result[0] if shown else result

    return mixed


@every_shape
@causal_or_not
@masked_or_not
@fast_or_shown
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_agree_with_torch(shapes, causal, masked, shown, dtype, rng, torch):
    arrays, mask = drawn(shapes, rng, masked)
    allowed = None if mask is None else torch.from_numpy(np.tril(mask) if causal else mask)
    check_against_torch(
        mixed_of(shown, mask, causal),
        lambda *qkv: torch.nn.functional.scaled_dot_product_attention(
            *qkv, attn_mask=allowed, is_causal=causal and mask is None
        ),
        *arrays,
        dtype=dtype,
        value=1e-12,
        gradient=1e-12,
    )


@causal_or_not
def test_self_attention_agrees_with_torch_for_each_matrix(causal, rng, torch):
    check_against_torch(
        lambda *given: cf.self_attention(*given, causal=causal)[0],
        lambda x, q, k, v: torch.nn.functional.scaled_dot_product_attention(
            x @ q, x @ k, x @ v, is_causal=causal
        ),
        rng.normal(size=(2, 5, 4)),
        *(rng.normal(size=(4, width)) for width in (3, 3, 6)),
        value=1e-12,
        gradient=1e-12,
    )


@pytest.mark.parametrize("scale", [None, 0.5, -1.0])
def test_the_scale_is_as_given(scale, rng, torch):
    check_against_torch(
        lambda *qkv: cf.attention(*qkv, scale=scale),
        lambda *qkv: torch.nn.functional.scaled_dot_product_attention(*qkv, scale=scale),
        *rng.normal(size=(3, 4, 3)),
        value=1e-12,
        gradient=1e-12,
    )


@every_shape
@causal_or_not
@masked_or_not
def test_each_row_of_weights_adds_up_to_one(shapes, causal, masked, rng):
    (query, key, value), mask = drawn(shapes, rng, masked)
    mixed, weights = cf.attention(query, key, value, mask=mask, causal=causal, return_weights=True)
    allowed = np.ones(weights.shape, bool) if mask is None else mask & np.ones(weights.shape, bool)
    allowed = np.tril(allowed) if causal else allowed
    assert ((weights > 0) == allowed).all()
    np.testing.assert_allclose(weights.sum(-1), allowed.any(-1), rtol=1e-12)
    np.testing.assert_allclose(mixed, weights @ value, rtol=1e-12, atol=1e-15)
    fast = cf.attention(query, key, value, mask=mask, causal=causal)
    np.testing.assert_allclose(fast, mixed, rtol=1e-12, atol=1e-12)


@fast_or_shown
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_query_that_may_look_nowhere_gives_zeros_and_gradient_zero(shown, dtype, rng):
    qkv = rng.normal(size=(3, 2, 4, 3)).astype(dtype)
    mask = np.ones((4, 4), bool)
    mask[1] = False
    mixed, gradients = weighted_gradients(mixed_of(shown, mask, False), weights_like(qkv[0]), *qkv)
    assert not mixed[:, 1].any()
    assert not gradients[0][:, 1].any()
    assert mixed[:, [0, 2, 3]].all()
    assert all(np.isfinite(each).all() for each in (mixed, *gradients))
    assert mixed.dtype == dtype


@fast_or_shown
@pytest.mark.parametrize("loud", [1.0, 1e2, 1e6])
def test_what_comes_later_changes_no_bit_of_what_comes_before(shown, loud, rng):
    """Also not where the later scores are so large that they must be shifted before exp."""
    query, key, value = rng.normal(size=(3, 2, 6, 4))
    attend = mixed_of(shown, None, True)
    before = attend(query, key, value)
    for x in (query, key, value):
        x[:, 4:] = loud * rng.normal(size=(2, 2, 4))
    after = attend(query, key, value)
    assert (after[:, :4] == before[:, :4]).all()
    assert (after[:, 4:] != before[:, 4:]).any()


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@causal_or_not
@masked_or_not
@pytest.mark.parametrize("factor", [1.0, 30.0], ids=["small scores", "large scores"])
def test_the_steps_are_the_fast_operation(lead, causal, masked, factor, rng):
    qkv = factor * rng.normal(size=(3, *lead, 5, 4))
    mask = rng.random((5, 5)) < 0.6 if masked else None
    allowed = np.tril(np.ones((5, 5), bool) if mask is None else mask) if causal else mask
    weights = weights_like(qkv[0])
    slow, slow_gradients = weighted_gradients(
        lambda *given: steps(*given, allowed, None, silent), weights, *qkv
    )
    fast, fast_gradients = weighted_gradients(
        lambda *given: ops.attention(*given, mask=mask, causal=causal), weights, *qkv
    )
    np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-12)
    for mine, wanted in zip(fast_gradients, slow_gradients, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-10, atol=1e-11 * factor**2)


def test_the_steps_have_their_names_in_order(rng):
    listener = Recorder()
    query, key, value = rng.normal(size=(3, 4, 3))
    steps(query, key, value, np.tri(4, dtype=bool), None, listener)
    assert list(listener.seen) == ["products", "scores", "masked_scores", "weights", "mixed"]
    seen = listener.seen
    np.testing.assert_allclose(seen["products"], query @ key.T, rtol=1e-12)
    np.testing.assert_allclose(seen["scores"], query @ key.T / np.sqrt(3), rtol=1e-12)
    assert (np.isneginf(seen["masked_scores"]) == ~np.tri(4, dtype=bool)).all()
    without = Recorder()
    steps(query, key, value, None, None, without)
    assert list(without.seen) == ["products", "scores", "weights", "mixed"]


def test_attention_without_a_width_is_refused():
    with pytest.raises(ShapeError, match="width of at least 1"):
        cf.attention(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros((2, 0)))
