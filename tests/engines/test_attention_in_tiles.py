"""Attention in tiles: equal to the whole table, in memory that grows with the length.

All laws of `test_attention` are held for tiles too; here are those that are theirs alone.
"""

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from threadpoolctl import threadpool_limits

from clearformer import ops
from clearformer.engines.numpy import attention_in_tiles as tiles
from clearformer.engines.numpy.attention_whole import attend_whole
from clearformer.engines.numpy.height import height_of
from clearformer.engines.numpy.power import quickest_power
from clearformer.engines.numpy.sight import Sight
from clearformer.engines.tape import value_and_gradients
from engines.proofs import check_gradient, few_examples, weights_like

PRECISION = {np.float64: 1e-12, np.float32: 2e-6}
"""Of numbers that scores of at most about 30 give, relative to the largest."""

both_types = pytest.mark.parametrize("dtype", PRECISION)


@pytest.fixture
def small_tiles() -> Iterator[None]:
    with patch.multiple(tiles, BAND=8, WIDE_BAND=8, TILE=2048, BACK_TILE=1024, LENGTH=1):
        yield


def check_both_ways(arrays, mask, causal, scale, precision):
    """O and all gradients, in tiles and with the whole table."""
    mixed, gradient = tiles.attend_in_tiles(*arrays, mask, causal, scale)
    expected, expected_gradient = attend_whole(*arrays, mask, causal, scale)
    weights = weights_like(expected)
    found = (mixed, *gradient(weights))
    wanted = (expected, *expected_gradient(weights))
    for name, mine, theirs in zip("OQKV", found, wanted, strict=True):
        assert mine.dtype == theirs.dtype
        size = precision * max(1.0, abs(theirs).max(initial=0))
        np.testing.assert_allclose(mine, theirs, 0, size, err_msg=name)


def masks(kind: str, query: int, key: int) -> np.ndarray | None:
    """What people mask: padding, windows, whatever; rows and whole tiles in which all is hidden."""
    rng = np.random.default_rng(2)
    rows, columns = np.ogrid[:query, :key]
    return {
        "none": None,
        "scattered": rng.random((query, key)) < 0.7,
        "sparse": rng.random((query, key)) < 0.02,
        "padding": columns < max(1, key // 2),
        "padding of one axis": (columns < max(1, key // 2))[0],
        "window": abs(rows - columns) < 5,
        "some queries": rows % 3 > 0,
        "in blocks": (rows // 16 + columns // 16) % 2 == 0,
        "nothing": np.zeros((1, key), bool),
        "everything": np.ones((query, key), bool),
    }[kind]


KINDS = ("none", "scattered", "sparse", "padding", "padding of one axis", "window", "some queries",
         "in blocks", "nothing", "everything")  # fmt: skip


@pytest.mark.usefixtures("small_tiles")
@few_examples
@given(
    leads=mutually_broadcastable_shapes(num_shapes=3, max_dims=2, max_side=2),
    sizes=some.tuples(some.integers(1, 40), some.integers(1, 70), *[some.integers(1, 5)] * 2),
    causal=some.booleans(),
    kind=some.sampled_from(KINDS),
    size=some.sampled_from([1.0, 12.0]),
    dtype=some.sampled_from(list(PRECISION)),
)
def test_tiles_and_the_whole_table_agree(leads, sizes, causal, kind, size, dtype):
    rng = np.random.default_rng(0)
    query, key, width, value_width = sizes
    pairs = (query, width), (key, width), (key, value_width)
    arrays = [
        rng.uniform(-1, 1, lead + pair).astype(dtype)
        for lead, pair in zip(leads.input_shapes, pairs, strict=True)
    ]
    arrays[0] *= size  # scores of at most 12 · 5: with and without a shift
    check_both_ways(arrays, masks(kind, query, key), causal, 1.0, 10 * PRECISION[dtype])


@both_types
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "window", "padding"])
@pytest.mark.parametrize("factor", [1.0, 4.0], ids=["safe", "shifted"])
def test_they_agree_where_tiles_are_used_by_themselves(dtype, causal, kind, factor, rng):
    """Several bands and a part of one; heads inside positions, as a model has them."""
    arrays = [
        factor * rng.normal(size=(1100, 2, 16)).swapaxes(0, 1).astype(dtype) for _ in range(3)
    ]
    arrays[0] = arrays[0][:, :520]
    assert tiles.tiles_pay(*arrays)
    check_both_ways(arrays, masks(kind, 520, 1100), causal, 0.25, 10 * PRECISION[dtype])


@pytest.mark.usefixtures("small_tiles")
@both_types
@pytest.mark.parametrize("shape", [(3, 1, 20, 35), (5, 20, 35), (3, 5, 1, 35), (3, 1, 1, 35)])
@pytest.mark.parametrize("size", [1.0, 12.0], ids=["safe", "shifted"])
def test_heads_that_go_together_keep_what_each_may_see(dtype, shape, size, rng):
    """Three sequences of five heads: masks that heads share, and masks of their own."""
    arrays = [rng.uniform(-1, 1, (3, 5, length, 4)).astype(dtype) for length in (20, 35, 35)]
    arrays[0] *= size
    arrays[0][1, 2] *= 9  # one head whose scores are large beside others whose are small
    check_both_ways(arrays, rng.random(shape) < 0.6, True, 1.0, 10 * PRECISION[dtype])


@pytest.mark.usefixtures("small_tiles")
@both_types
def test_how_many_heads_go_together_changes_no_bit(dtype, rng):
    """More threads share out fewer heads each: the numbers must not depend on the machine."""
    query, key, value = rng.normal(size=(3, 4, 20, 4)).astype(dtype)
    query[1] *= 40  # shifted, beside heads that are not
    found = []
    for threads in (1, 64):
        with patch.object(tiles, "threads_allowed", return_value=threads):
            mixed, gradient = tiles.attend_in_tiles(query, key, value, None, True, 0.5)
            found.append((mixed, *gradient(weights_like(mixed))))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("scale", [None, 30.0], ids=["safe", "shifted"])
@pytest.mark.parametrize("kind", ["none", "scattered", "window"])
def test_gradient_agrees_with_finite_differences(scale, kind, rng):
    query, key, value = (rng.normal(size=(2, length, 3)) for length in (19, 35, 35))
    mask = masks(kind, 19, 35)
    check_gradient(
        lambda *qkv: ops.attention(*qkv, mask=mask, causal=True, scale=scale),
        query,
        key,
        value,
        absolute=1e-7,
    )


@pytest.mark.parametrize("causal", [False, True])
def test_memory_grows_with_the_length(causal):
    """Twice the length takes about twice the memory, forwards and backwards."""
    heights = []
    for length in (2048, 4096):
        arrays = np.ones((3, length, 16), np.float32)
        heights.append(
            height_of(
                lambda arrays=arrays: value_and_gradients(
                    lambda *qkv: ops.attention(*qkv, causal=causal), *arrays
                )
            )
        )
    assert heights[0] > 4 * 2048 * 16 * 4, "the test must be able to see what is allocated"
    assert heights[1] < 2.3 * heights[0]
    assert heights[1] < 4096 * 4096


def test_what_is_hidden_is_left_out():
    """A window of fixed width costs as much for each query, however long the sequence is."""
    visited = []
    for length in (1024, 2048):
        rows, columns = np.ogrid[:length, :length]
        window = (columns <= rows) & (columns > rows - 100)
        sight = Sight(window, False, (length, length), (1,))
        bands = (slice(start, start + 128) for start in range(0, length, 128))
        found = [tile.keys for band in bands for tile in sight.tiles((slice(1),), band, 64)]
        visited.append(sum(keys.stop - keys.start for keys in found) / length)
    assert visited[1] == pytest.approx(visited[0], rel=0.1)
    assert visited[1] < 2  # 128 and 99 keys for each 128 queries


def test_the_causal_rule_leaves_out_half():
    sight = Sight(None, True, (1024, 1024), (1,))
    bands = [slice(start, start + 128) for start in range(0, 1024, 128)]
    found = [tile.keys for band in bands for tile in sight.tiles((slice(1),), band, 256)]
    seen = sum(keys.stop - keys.start for keys in found)
    assert seen * 128 == 1024 * (1024 + 128) / 2


@both_types
def test_no_bit_depends_on_what_may_not_be_seen(dtype, rng):
    """Wherever the limit of small scores lies, one of the factors puts it between the two."""
    query, key, value = rng.normal(size=(3, 700, 8)).astype(dtype)
    for factor in 1.3 ** np.arange(20):
        before = ops.attention(factor.astype(dtype) * query, key, value, causal=True)
        loud = [x.copy() for x in (query, key, value)]
        for x in loud:
            x[600:] *= 3
        after = ops.attention(factor.astype(dtype) * loud[0], *loud[1:], causal=True)
        assert (after[:600] == before[:600]).all()
        assert (after[600:] != before[600:]).any()


def test_it_does_not_matter_how_many_threads_there_are(rng):
    arrays = rng.normal(size=(3, 3, 600, 8)).astype(np.float32)
    found = []
    for threads in (1, 2, 4):
        with (
            threadpool_limits(threads, user_api="blas"),
            patch("clearformer.engines.threads.processors", lambda threads=threads: threads),
        ):
            found.append(
                value_and_gradients(lambda *qkv: ops.attention(*qkv, causal=True), *arrays)
            )
    for mixed, gradients in found[1:]:
        np.testing.assert_array_equal(mixed, found[0][0])
        np.testing.assert_array_equal(gradients, found[0][1])


@both_types
def test_a_hidden_key_stays_out_even_if_it_is_not_a_number(dtype, rng):
    arrays = rng.normal(size=(3, 2, 600, 4)).astype(dtype)
    mask = np.arange(600)[None] < 550
    expected = ops.attention(*arrays, mask=mask)
    arrays[1][:, 550:] = np.nan
    np.testing.assert_allclose(ops.attention(*arrays, mask=mask), expected, 1e-5)


def test_powers_are_those_of_e_on_any_processor(monkeypatch):
    x = np.linspace(-30, 30, 1001)
    for quick in (True, False):
        loop = {"exp2": {"ff": {"current": "AVX512_SKX" if quick else "baseline(SSE)"}}}
        monkeypatch.setattr("numpy.lib.introspect.opt_func_info", lambda loop=loop, **_: loop)
        function, per_nat = quickest_power.__wrapped__()
        assert (function is np.exp2) == quick
        np.testing.assert_allclose(function(x * per_nat), np.exp(x), 1e-13)


def test_the_whole_table_is_taken_where_tiles_could_not_help(rng):
    short, long = rng.normal(size=(100, 4)), rng.normal(size=(1000, 4))
    assert tiles.tiles_pay(long, long, long)
    assert not tiles.tiles_pay(short, long, long)
    assert not tiles.tiles_pay(long, short, short)
    assert not tiles.tiles_pay(*[long.astype(np.float16)] * 3)
    assert not tiles.tiles_pay(long.astype(np.float32), long, long)
