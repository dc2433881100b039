"""Fused attention: equal to its steps and to PyTorch, with small scores and with huge ones."""

import sys
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from clearformer import ops
from clearformer.engines.mask import allowed_positions
from clearformer.engines.numpy import attention, attention_in_tiles
from clearformer.errors import ShapeError
from engines.proofs import (
    check_against_torch,
    check_gradient,
    few_examples,
    weights_like,
)
from engines.runners import every_engine

FACTORS = {"small scores": 1.0, "huge scores": 100.0}  # these take different branches of the code

both_branches = pytest.mark.parametrize("factor", FACTORS.values(), ids=FACTORS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@pytest.fixture(autouse=True, scope="module", params=["whole", "in tiles", "compiled"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each law three times: as it is for tables as small as these, in tiles as if they were large,
    and by compiled kernels, where these can do it."""
    small = {"BAND": 2, "WIDE_BAND": 2, "TILE": 256, "BACK_TILE": 256}
    length = {"whole": sys.maxsize, "in tiles": 1, "compiled": sys.maxsize}[request.param]
    if compiled := request.param == "compiled":
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
    with (
        patch.multiple(attention_in_tiles, LENGTH=length, **small),
        patch.object(sys.modules[attention.__module__], "_wants_kernels", lambda *_: compiled),
    ):
        yield request.param


def causal_attention(query, key, value):
    return ops.attention(query, key, value, causal=True)


def in_steps(query, key, value, *, mask=None, causal=False, scale=None):
    """The same from operations that are proved by themselves."""
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = ops.matmul(ops.multiply(query, factor), ops.transpose(key))
    allowed = allowed_positions(query.shape[-2], key.shape[-2], mask, causal)
    if allowed is not None:
        scores = ops.mask_scores(scores, allowed)
    return ops.matmul(ops.softmax(scores), value)


@every_engine
@few_examples
@given(
    leads=mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=3),
    sizes=some.tuples(*[some.integers(1, 4)] * 4),
    factor=some.sampled_from([1.0, 100.0]),
    causal=some.booleans(),
    masked=some.booleans(),
    scale=some.sampled_from([None, 0.5, -1.0]),
)
def test_it_equals_its_steps(by, leads, sizes, factor, causal, masked, scale):
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
        by.gradients(lambda *qkv, way=way: way(*qkv, **options), weights, *arrays)
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
def test_it_agrees_with_torch(way, factor, dtype, causal, masked, rng, torch):
    """Whole numbers and a scale of 1/4 keep huge scores exact, so that 1e-12 can be asked for.

    In tiles they are multiplied by log2(e), and then the largest are exact to 1e-11.
    """
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
        value=1e-12 if way == "whole" else 1e-10,
        gradient=1e-12 if way == "whole" else 1e-8,
        size=4 * factor,
    )


@every_engine
@both_types
@both_branches
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_a_query_that_may_look_nowhere_gives_zeros_and_gradient_zero(by, factor, dtype, lead, rng):
    query, key, value = (factor * rng.normal(size=(3, *lead, 4, 4))).astype(dtype)
    mask = np.ones((4, 4), bool)
    mask[1] = False
    result, gradients = by.gradients(
        lambda *qkv: ops.attention(*qkv, mask=mask), weights_like(query), query, key, value
    )
    assert not result[..., 1, :].any()
    assert not gradients[0][..., 1, :].any()
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert result[..., 0, :].all()


@every_engine
@both_types
@both_branches
def test_where_nobody_may_look_anywhere_all_is_zero(by, factor, dtype, rng):
    query, key, value = (factor * rng.normal(size=(3, 2, 4, 4))).astype(dtype)
    result, gradients = by.gradients(
        lambda *qkv: ops.attention(*qkv, mask=np.zeros((1, 4), bool)),
        weights_like(query),
        query,
        key,
        value,
    )
    assert not result.any()
    assert not any(gradient.any() for gradient in gradients)


@every_engine
@both_branches
def test_what_a_query_may_not_see_has_no_influence(by, factor, rng):
    """Position i of a causal table must not change with what comes after i."""
    query, key, value = factor * rng.normal(size=(3, 2, 5, 4))
    before = by.value(causal_attention, query, key, value)
    key[:, 3:], value[:, 3:] = rng.normal(size=(2, 2, 2, 4))
    after = by.value(causal_attention, query, key, value)
    np.testing.assert_allclose(after[:, :3], before[:, :3], 1e-12, 1e-12)


@every_engine
@pytest.mark.parametrize("scale", [None, 4.0, 30.0])
def test_gradient_agrees_with_finite_differences_in_both_branches(by, scale, rng):
    query, key, value = rng.normal(size=(3, 3, 4))
    mask = rng.random((3, 3)) < 0.7
    mask[0] = False
    check_gradient(
        lambda *qkv: ops.attention(*qkv, mask=mask, scale=scale),
        query,
        key,
        value,
        by=by,
        absolute=1e-7,
    )


@every_engine
@both_branches
@pytest.mark.parametrize("shape", [(2, 4, 4), (4, 5), (3, 4), (2, 1, 1, 4)])
@pytest.mark.parametrize("causal", [False, True])
def test_a_mask_that_does_not_fit_the_scores_is_refused(by, factor, shape, causal, rng):
    """With axes of its own it would repeat the scores. Both branches must refuse, not one."""
    query, key, value = factor * rng.normal(size=(3, 4, 2))
    with pytest.raises(ShapeError, match=r"a mask must fit the scores"):
        by.value(
            lambda *qkv: ops.attention(*qkv, mask=np.ones(shape, bool), causal=causal),
            query,
            key,
            value,
        )


@every_engine
def test_a_scale_of_any_kind_of_number_keeps_float32(by, rng):
    """1 / np.sqrt(width) is a float64 of NumPy, which would turn everything into float64."""
    qkv = rng.normal(size=(3, 2, 4)).astype(np.float32)
    mixed = by.value(lambda *qkv: ops.attention(*qkv, scale=1 / np.sqrt(4)), *qkv)
    assert mixed.dtype == np.float32


@every_engine
@both_types
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_a_key_that_nobody_may_see_stays_out_even_if_it_is_not_a_number(
    by, dtype, causal, lead, rng
):
    def masked(query, key, value):
        return ops.attention(query, key, value, mask=mask, causal=causal)

    query, key, value = rng.normal(size=(3, *lead, 4, 4)).astype(dtype)
    mask = np.array([[True, True, True, False]])
    expected = by.value(masked, query, key, value)
    key[..., 3, :] = np.nan
    np.testing.assert_allclose(by.value(masked, query, key, value), expected, 1e-5)


@every_engine
def test_the_worked_example(by):
    """The weights of a first lesson, to three places; mixing unit vectors shows them."""
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    query = x @ np.array([[1.0, 0.0], [0.0, 2.0]])
    key = x @ np.array([[1.0, 1.0], [0.0, 1.0]])
    last = [0.178, 0.088, 0.734]
    everything = [[0.401, 0.198, 0.401], [0.164, 0.164, 0.673], last]
    past = [[1, 0, 0], [0.5, 0.5, 0], last]
    np.testing.assert_allclose(
        by.value(ops.attention, query, key, np.eye(3)), everything, atol=5e-4
    )
    np.testing.assert_allclose(by.value(causal_attention, query, key, np.eye(3)), past, atol=5e-4)


@every_engine
def test_half_precision_does_not_overflow_where_float32_would_not(by):
    """exp(11.1) is beyond float16; the shortcut for scores up to 30 is not for it."""
    rows = np.array([[3.8], [-3.8], [3.0]], np.float16)  # scores up to 14.4
    found = by.value(ops.attention, rows, rows, rows)
    wide = rows.astype(np.float64)
    assert ops.attention(rows, rows, rows).dtype == np.float16
    np.testing.assert_allclose(found, by.value(ops.attention, wide, wide, wide), rtol=0.01)


def test_it_does_not_matter_what_a_kernel_gives_where_nothing_is_allowed(rng, torch, monkeypatch):
    """PyTorch's kernels differ in that: some give 0, on some devices and versions NaN."""
    from clearformer.engines.torch import attention

    def kernel(query, key, value, table=None, *, is_causal=False, scale=None):
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        return scores.masked_fill(~table, -torch.inf).softmax(-1) @ value

    monkeypatch.setattr(sys.modules[attention.__module__], "scaled_dot_product_attention", kernel)
    query, key, value = rng.normal(size=(3, 2, 4, 4))
    mask = rng.random((4, 4)) < 0.5
    mask[1] = False
    check_against_torch(
        lambda *qkv: ops.attention(*qkv, mask=mask),
        lambda *qkv: ops.attention(*qkv, mask=mask),
        query,
        key,
        value,
    )
