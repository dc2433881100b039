"""Attention by compiled tiles is the plain one, but for the order of sums.

All laws of `test_attention` are held for it too; here are those that are its alone.
"""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from threadpoolctl import threadpool_limits

from clearformer import ops
from clearformer.engines.numpy import attention
from clearformer.engines.numpy.attention_whole import attend_whole
from clearformer.engines.numpy.height import height_of
from clearformer.engines.tape import Tape
from clearformer.errors import ConfigurationError
from engines.proofs import few_examples, weights_like

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from clearformer.engines.numpy.compiled import attention as compiled_way
from clearformer.engines.numpy.compiled.attention_kernel import BAND, BLOCK, SAFE
from clearformer.engines.numpy.compiled.tiles import COLUMNS, LANES, ROWS

LAYOUTS = ("heads inside", "side by side", "turned", "every other")


def laid_out(x: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers, otherwise in memory."""
    if layout == "heads inside" and x.ndim > 2:
        return np.ascontiguousarray(x.swapaxes(-2, -3)).swapaxes(-2, -3)
    if layout == "turned":
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if layout == "every other":
        return np.repeat(x, 2, -1)[..., ::2]
    return x


def check_both_ways(arrays, causal, factor, precision=5e-6):
    """O and all gradients, beside the whole table in float64."""
    assert compiled_way.takes(*arrays, None, causal)
    mixed, gradient = compiled_way.attend(*arrays, None, causal, factor)
    wide = [x.astype(np.float64) for x in arrays]
    expected, expected_gradient = attend_whole(*wide, None, causal, factor)
    weights = weights_like(expected)
    found = (mixed, *gradient(weights.astype(np.float32)))
    wanted = (expected, *expected_gradient(weights))
    for name, mine, theirs in zip("OQKV", found, wanted, strict=True):
        assert mine.dtype == np.float32
        size = precision * max(1.0, abs(theirs).max(initial=0))
        np.testing.assert_allclose(mine, theirs, 0, size, err_msg=name)


@few_examples
@given(
    lead=some.sampled_from([(), (3,), (2, 3), (2, 1, 2)]),
    queries=some.integers(1, 130),
    more=some.integers(0, 210),
    widths=some.tuples(some.integers(1, 70), some.integers(1, 70)),
    causal=some.booleans(),
    size=some.sampled_from([1.0, 12.0]),
    layouts=some.tuples(*[some.sampled_from(LAYOUTS)] * 3),
)
def test_it_agrees_with_the_whole_table(lead, queries, more, widths, causal, size, layouts):
    """Small scores and large ones, of any size and wherever the numbers lie."""
    rng = np.random.default_rng(0)
    width, value = widths
    pairs = (queries, width), (queries + more, width), (queries + more, value)
    arrays = [
        laid_out(rng.normal(size=lead + pair).astype(np.float32), layout)
        for pair, layout in zip(pairs, layouts, strict=True)
    ]
    arrays[0] *= np.float32(size)
    check_both_ways(arrays, causal, width**-0.5, 5e-6 * size)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("keys", [1, ROWS, COLUMNS, BAND, BLOCK, BLOCK + 1, 2 * BLOCK + COLUMNS])
@pytest.mark.parametrize("width", [1, LANES, COLUMNS + 1])
def test_it_agrees_at_every_edge(causal, keys, width, rng):
    arrays = rng.normal(size=(3, 2, keys, width)).astype(np.float32)
    check_both_ways(list(arrays), causal, width**-0.5)


def test_more_queries_than_keys_where_nothing_is_hidden(rng):
    arrays = [rng.normal(size=(2, n, 16)).astype(np.float32) for n in (300, 20, 20)]
    check_both_ways(arrays, False, 0.25)


@pytest.mark.parametrize("factor", [1.0, -2.0, 0.0])
def test_scores_up_to_the_limit_and_beyond_it(factor, rng):
    """Of rows some of which are shifted, others not; weights of nearly 0 and of nearly 1."""
    query = np.linspace(-80, 80, 200, dtype=np.float32)[:, None]
    key = np.linspace(-1, 1, 200, dtype=np.float32)[:, None]
    check_both_ways([query, key, rng.normal(size=(200, 3)).astype(np.float32)], True, factor, 3e-5)


def test_powers_are_exact_to_two_roundings():
    """A row with two keys shows one power each: 1 / (1 + exp(-x))."""
    x = np.linspace(-20, 20, 4001, dtype=np.float32)
    keys, values = np.array([[1], [0]], np.float32), np.eye(2, dtype=np.float32)
    mixed, _ = compiled_way.attend(x[:, None], keys, values, None, False, 1.0)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(mixed[:, 0], 1 / (1 + np.exp(-wide)), 3e-6)
    np.testing.assert_allclose(mixed[:, 1], 1 / (1 + np.exp(wide)), 3e-6)


def test_no_bit_depends_on_what_may_not_be_seen(rng):
    """Wherever the limit of small scores lies, one of the factors puts it between the two."""
    query, key, value = rng.normal(size=(3, 300, 8)).astype(np.float32)
    for factor in 1.3 ** np.arange(20, dtype=np.float32):
        before, _ = compiled_way.attend(factor * query, key, value, None, True, 0.3)
        loud = [x.copy() for x in (query, key, value)]
        for x in loud:
            x[200:] *= 3
        after, _ = compiled_way.attend(factor * loud[0], *loud[1:], None, True, 0.3)
        assert (after[:200] == before[:200]).all()
        assert (after[200:] != before[200:]).any()


@pytest.mark.parametrize("heads", [1, 3, 8])
def test_it_does_not_matter_how_many_threads_there_are(heads, rng):
    arrays = rng.normal(size=(4, heads, 500, 8)).astype(np.float32)
    found = []
    for threads in (1, 2, 4):
        with (
            threadpool_limits(threads, user_api="blas"),
            patch("clearformer.engines.threads.processors", lambda threads=threads: threads),
        ):
            mixed, gradient = compiled_way.attend(*arrays[:3], None, True, 0.3)
            found.append((mixed, *gradient(arrays[3])))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_comes_out_so_and_the_rows_before_it_stay(bad, rng):
    arrays = rng.normal(size=(3, 150, 8)).astype(np.float32)
    expected, _ = compiled_way.attend(*arrays, None, True, 0.3)
    for which in (0, 1):
        spoilt = [x.copy() for x in arrays]
        spoilt[which][120, 3] = bad
        mixed, _ = compiled_way.attend(*spoilt, None, True, 0.3)
        with np.errstate(invalid="ignore"):
            plain, _ = attend_whole(*spoilt, None, True, 0.3)
        np.testing.assert_array_equal(np.isfinite(mixed), np.isfinite(plain))
        assert not np.isfinite(mixed[120:]).all()
        np.testing.assert_array_equal(mixed[:120], expected[:120])


def test_numbers_that_may_not_be_written_to_are_read(rng):
    arrays = rng.normal(size=(3, 20, 8)).astype(np.float32)
    arrays.flags.writeable = False
    before = arrays.copy()
    check_both_ways(list(arrays), True, 0.3)
    np.testing.assert_array_equal(arrays, before)


def test_memory_grows_with_the_length(rng):
    heights = []
    for length in (2048, 4096):
        arrays = rng.normal(size=(4, length, 16)).astype(np.float32)

        def both(arrays=arrays):
            _, gradient = compiled_way.attend(*arrays[:3], None, True, 0.25)
            return gradient(arrays[3])

        both()
        heights.append(height_of(both))
    assert heights[0] > 4 * 2048 * 16 * 4, "the test must be able to see what is allocated"
    assert heights[1] < 2.3 * heights[0]


def test_what_kernels_cannot_do_takes_the_plain_way(rng):
    q, k, v = rng.normal(size=(3, 2, 20, 4)).astype(np.float32)
    assert compiled_way.takes(q, k, v, None, True)
    assert not compiled_way.takes(q, k, v, np.ones((20, 20), bool), True)
    assert not compiled_way.takes(q[0], k, v, None, True)
    assert not compiled_way.takes(q, k, v[..., :0], None, True)
    assert not compiled_way.takes(q, k[:, :10], v[:, :10], None, True)
    assert compiled_way.takes(q, k[:, :10], v[:, :10], None, False)
    assert not compiled_way.takes(q.astype(np.float64), k, v, None, True)


def test_who_asks_for_kernels(rng, monkeypatch):
    """A tape says it; where nothing is recorded the switch does, or whether it takes long."""
    taken = []
    monkeypatch.setattr(
        compiled_way, "attend", lambda *a, plain=compiled_way.attend: taken.append(1) or plain(*a)
    )
    arrays = rng.normal(size=(3, 2, 20, 4)).astype(np.float32)

    def calls(compiled, switch, plain=1.5e11):
        monkeypatch.setenv("CLEARFORMER_COMPILED", switch)
        monkeypatch.setattr(sys.modules[attention.__module__], "PLAIN", plain)
        taken.clear()
        tape = Tape(compiled=compiled) if compiled is not None else None
        inputs = [tape.watch(x) for x in arrays] if tape is not None else arrays
        ops.attention(*inputs, causal=True)
        return len(taken)

    assert calls(True, "auto") == calls(True, "never") == calls(None, "always") == 1
    assert calls(False, "always") == calls(None, "never") == calls(None, "auto") == 0
    assert calls(None, "auto", plain=100.0) == 1  # so slow that it would take more than a second
    with pytest.raises(ConfigurationError, match="CLEARFORMER_COMPILED"):
        calls(None, "sometimes")


def test_small_registers_give_the_same(tmp_path):
    """As on a processor without AVX: vectors of eight numbers, tiles of six rows."""
    told = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        env={
            **os.environ,
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.split() == ["8", "6", "agree"], told.stderr


ELSEWHERE = """
import numpy as np
from clearformer.engines.numpy.compiled.tiles import LANES, ROWS
from engines.test_compiled_attention import check_both_ways
rng = np.random.default_rng(0)
for causal in (False, True):
    for size in (1, 12):
        arrays = [rng.normal(size=(2, 203, width)).astype(np.float32) for width in (20, 20, 7)]
        arrays[0] *= np.float32(size)
        check_both_ways(arrays, causal, 0.2, 5e-6 * size)
print(LANES, ROWS, "agree")
"""


def test_the_limit_is_the_one_of_the_plain_way():
    assert np.exp2(np.float64(SAFE)) == pytest.approx(np.exp(30), 1e-5)
