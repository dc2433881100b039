"""Fused attention: equal to its steps and to PyTorch, with small scores and with huge ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from clearformer import ops
from clearformer.engines.mask import allowed_positions
from engines.proofs import (
    check_against_torch,
    check_gradient,
    few_examples,
    weighted_gradients,
    weights_like,
)

FACTORS = {"small scores": 1.0, "huge scores": 100.0}  # these take different branches of the code

both_branches = pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def in_steps(query, key, value, *, mask=None, causal=False, scale=None):
    """The same from operations that are proved by themselves."""
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = ops.matmul(ops.multiply(query, np.asarray(factor, query.dtype)), ops.transpose(key))
    allowed = allowed_positions(query.shape[-2], key.shape[-2], mask, causal)
    if allowed is not None:
        scores = ops.mask_scores(scores, allowed)
    return ops.matmul(ops.softmax(scores), value)


@few_examples
@given(
    leads=mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=3),
    sizes=some.tuples(*[some.integers(1, 4)] * 4),
    factor=some.sampled_from([1.0, 100.0]),
    causal=some.booleans(),
    masked=some.booleans(),
    scale=some.sampled_from([None, 0.5, -1.0]),
)
def test_it_equals_its_steps(leads, sizes, factor, causal, masked, scale):
    rng = np.random.default_rng(0)
    query, key, width, value_width = sizes
    pairs = (query, width), (key, width), (key, value_width)
    arrays = [
        factor * rng.normal(size=lead + pair)
        for lead, pair in zip(leads.input_shapes, pairs, strict=True)
    ]
    mask = rng.random((query, key)) < 0.6 if masked else None
    options = {"mask": mask, "causal": causal, "scale": scale}
    weights = weights_like(in_steps(*arrays, **options))
    found, expected = (
        weighted_gradients(lambda *qkv, way=way: way(*qkv, **options), weights, *arrays)
        for way in (ops.attention, in_steps)
    )
    np.testing.assert_allclose(found[0], expected[0], 1e-9, 1e-9)
    for position, (mine, wanted) in enumerate(zip(found[1], expected[1], strict=True)):
        size = 1e-9 * max(1.0, abs(wanted).max(initial=0))
        np.testing.assert_allclose(mine, wanted, 1e-9, size, err_msg=f"input {position}")


@both_types
@both_branches
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_it_agrees_with_torch(factor, dtype, causal, masked, rng, torch):
    """Whole numbers and a scale of 1/4 keep huge scores exact, so that 1e-12 can be asked for."""
    query, key = factor * rng.integers(-4, 5, (2, 2, 3, 6, 16))
    value = rng.normal(size=(2, 3, 6, 5))
    mask = rng.random((2, 1, 6, 6)) < 0.7
    mask[0, 0, 2] = False  # a query that may look nowhere
    if not masked:
        mask[...] = True
    allowed = torch.from_numpy(np.tril(mask) if causal else mask)
    check_against_torch(
        lambda *qkv: ops.attention(*qkv, mask=mask if masked else None, causal=causal),
        lambda *qkv: torch.nn.functional.scaled_dot_product_attention(*qkv, allowed),
        query,
        key,
        value,
        dtype=dtype,
        gradient=1e-12,
        size=4 * factor,
    )


@both_types
@both_branches
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_a_query_that_may_look_nowhere_gives_zeros_and_gradient_zero(factor, dtype, lead, rng):
    query, key, value = (factor * rng.normal(size=(3, *lead, 4, 4))).astype(dtype)
    mask = np.ones((4, 4), bool)
    mask[1] = False
    result, gradients = weighted_gradients(
        lambda *qkv: ops.attention(*qkv, mask=mask), weights_like(query), query, key, value
    )
    assert not result[..., 1, :].any()
    assert not gradients[0][..., 1, :].any()
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert result[..., 0, :].all()


@both_types
@both_branches
def test_where_nobody_may_look_anywhere_all_is_zero(factor, dtype, rng):
    query, key, value = (factor * rng.normal(size=(3, 2, 4, 4))).astype(dtype)
    result, gradients = weighted_gradients(
        lambda *qkv: ops.attention(*qkv, mask=np.zeros((1, 4), bool)),
        weights_like(query),
        query,
        key,
        value,
    )
    assert not result.any()
    assert not any(gradient.any() for gradient in gradients)


@both_branches
def test_what_a_query_may_not_see_has_no_influence(factor, rng):
    """Position i of a causal table must not change, bit for bit, with what comes after i."""
    query, key, value = factor * rng.normal(size=(3, 2, 5, 4))
    before = ops.attention(query, key, value, causal=True)
    key[:, 3:], value[:, 3:] = rng.normal(size=(2, 2, 2, 4))
    after = ops.attention(query, key, value, causal=True)
    np.testing.assert_allclose(after[:, :3], before[:, :3], 1e-12, 1e-12)


@pytest.mark.parametrize("scale", [None, 4.0, 30.0])
def test_gradient_agrees_with_finite_differences_in_both_branches(scale, rng):
    query, key, value = rng.normal(size=(3, 3, 4))
    mask = rng.random((3, 3)) < 0.7
    mask[0] = False
    check_gradient(
        lambda *qkv: ops.attention(*qkv, mask=mask, scale=scale), query, key, value, absolute=1e-7
    )


@both_branches
def test_a_mask_with_axes_of_its_own_is_refused(factor, rng):
    """As in PyTorch: it would repeat the scores. Both branches must refuse, not one."""
    query, key, value = factor * rng.normal(size=(3, 4, 2))
    with pytest.raises(ValueError, match="mask"):
        ops.attention(query, key, value, mask=np.ones((2, 4, 4), bool))


def test_a_scale_of_any_kind_of_number_keeps_float32(rng):
    """1 / np.sqrt(width) is a float64 of NumPy, which would turn everything into float64."""
    qkv = rng.normal(size=(3, 2, 4)).astype(np.float32)
    assert ops.attention(*qkv, scale=1 / np.sqrt(4)).dtype == np.float32


def test_the_worked_example():
    """The weights of a first lesson, to three places; mixing unit vectors shows them."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    query = ops.linear(x, np.array([[1.0, 0.0], [0.0, 2.0]]))
    key = ops.linear(x, np.array([[1.0, 1.0], [0.0, 1.0]]))
    last = [0.178, 0.088, 0.734]
    everything = [[0.401, 0.198, 0.401], [0.164, 0.164, 0.673], last]
    past = [[1, 0, 0], [0.5, 0.5, 0], last]
    np.testing.assert_allclose(ops.attention(query, key, np.eye(3)), everything, atol=5e-4)
    np.testing.assert_allclose(ops.attention(query, key, np.eye(3), causal=True), past, atol=5e-4)


def test_half_precision_does_not_overflow_where_float32_would_not():
    """exp(11.1) is beyond float16; the shortcut for scores up to 30 is not for it."""
    rows = np.array([[3.8], [-3.8], [3.0]], np.float16)  # scores up to 14.4
    found = ops.attention(rows, rows, rows)
    wide = rows.astype(np.float64)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, ops.attention(wide, wide, wide), rtol=0.01)
