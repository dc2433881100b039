"""Attention by compiled tiles is the plain one, but for the order of sums.

All laws of `test_attention` are held for it too; here are those that are its alone.
"""

import hashlib
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from threadpoolctl import threadpool_limits

from clearformer import ops
from clearformer.engines.numpy import attention
from clearformer.engines.numpy.attention_whole import SAFE_SCORE, attend_whole
from clearformer.engines.numpy.height import height_of
from clearformer.engines.tape import Tape
from clearformer.errors import ConfigurationError
from engines.proofs import few_examples, weights_like

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from numba.core.errors import TypingError

from clearformer.engines.numpy.compiled import attention as compiled_way
from clearformer.engines.numpy.compiled.attention_kernel import BAND, BLOCK, SAFE, forwards
from clearformer.engines.numpy.compiled.tiles import COLUMNS, LANES, ROWS, WIDTH

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


def test_powers_are_those_of_exponents_that_are_rounded():
    """A row with two keys shows one power each: 1 / (1 + exp(-x)). A float32 is exact to 6e-8."""
    x = np.linspace(-80, 80, 40001, dtype=np.float32)
    keys, values = np.array([[1], [0]], np.float32), np.eye(2, dtype=np.float32)
    mixed, _ = compiled_way.attend(x[:, None], keys, values, None, False, 1.0)
    wide = x.astype(np.float64)
    for found, sign in ((mixed[:, 0], -1), (mixed[:, 1], 1)):
        wrong = abs(found * (1 + np.exp(sign * wide)) - 1)
        assert (wrong <= 2e-7 + 7e-8 * abs(wide)).all()


def test_weights_below_what_a_number_can_be_are_zero():
    """A value of any size has no part in the result where its score is that much smaller."""
    keys, values = np.array([[0], [-1]], np.float32), np.array([[1], [1e38]], np.float32)
    for size in (100, 1000, 1e6, 1e30):
        mixed, _ = compiled_way.attend(
            np.full((1, 1), size, np.float32), keys, values, None, False, 1.0
        )
        assert mixed == 1
    minus = np.array([[-np.inf], [-np.inf]], np.float32)
    mixed, _ = compiled_way.attend(np.ones((1, 1), np.float32), minus, values, None, False, 1.0)
    assert mixed == 0  # as the plain way


@pytest.mark.parametrize("bits", [0x7FC00000, 0x7FC00001, 0x7FBFFFFF, 0xFFC00002])
def test_every_kind_of_what_is_no_number_gives_none(bits):
    query = np.ones((4, 1), np.float32)
    query.view(np.uint32)[1] = bits
    mixed, _ = compiled_way.attend(query, np.ones_like(query), np.ones_like(query), None, True, 1.0)
    np.testing.assert_array_equal(np.isnan(mixed[:, 0]), [False, True, False, False])


@pytest.mark.parametrize("more", [0, 23, 78, 178])
@pytest.mark.parametrize("queries", [30, 126, 205, 222, 289])
def test_keys_that_nobody_sees_receive_nothing(queries, more, rng):
    """The last band is no whole number of tiles: what is behind it is a table of other keys."""
    arrays = [rng.normal(size=(2, n, 8)).astype(np.float32) for n in (queries, queries + more)]
    query, key = arrays
    check_both_ways([query, key, key[..., :5]], True, 0.35)
    mixed, gradient = compiled_way.attend(query, key, key, None, True, 0.35)
    _, to_key, to_value = gradient(np.ones_like(mixed))
    assert not to_key[:, queries:].any()
    assert not to_value[:, queries:].any()


def test_large_scores_in_some_bands_and_some_heads_only(rng):
    """A shift belongs to its row: neither to the next band nor to the next head."""
    query, key, value = rng.normal(size=(3, 8, 200, 4)).astype(np.float32)
    query[::2, :BAND] *= 300
    for causal in (False, True):
        check_both_ways([query, key, value], causal, 0.5, 1e-4)


def test_one_that_is_large_is_seen_wherever_it_is(rng):
    """That decides whether a band needs shifts: the largest of all keys, and of its queries."""
    value = rng.normal(size=(100, 1)).astype(np.float32)
    for place in (0, 50, 95, 96, 99):
        one = np.zeros((100, 1), np.float32)
        one[place] = 100
        all_of_them = np.ones((100, 1), np.float32)
        check_both_ways([all_of_them, one, value], False, 1.0)
        check_both_ways([one, all_of_them, value], False, 1.0)
        check_both_ways([one, np.linspace(-1, 1, 100, dtype=np.float32)[:, None], value], True, 1.0)
    unit = np.float32(10) * np.eye(130, dtype=np.float32)
    check_both_ways([unit, unit, unit[:, :3]], True, 1.0)


def test_a_factor_may_be_so_small_that_its_square_is_none():
    query = np.full((3, 1), 1e18, np.float32)
    key = np.array([[1e18], [-1e18], [1e17]], np.float32)
    check_both_ways([query, key, np.eye(3, dtype=np.float32)], False, 1e-30)


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int32])
def test_a_gradient_of_another_type_is_read_as_numbers(kind, rng):
    query, key, value = rng.normal(size=(3, 20, 4)).astype(np.float32)
    mixed, gradient = compiled_way.attend(query, key, value, None, True, 0.5)
    other = rng.integers(-3, 4, mixed.shape)
    for one, same in zip(
        gradient(other.astype(kind)), gradient(other.astype(np.float32)), strict=True
    ):
        np.testing.assert_array_equal(one, same)


@pytest.mark.skipif(sys.platform != "linux", reason="pages are guarded by Linux's own calls")
@pytest.mark.parametrize("at_end", [False, True])
def test_nothing_is_read_or_written_beside_what_it_is_given(at_end, tmp_path):
    """Each array ends, or begins, at a page that nobody may touch: another process tries it."""
    told = subprocess.run(
        [sys.executable, "-c", GUARDED, str(at_end)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout == "nothing touched\n", told.stderr


GUARDED = """
import ctypes, mmap, sys
from math import prod
import numpy as np
from clearformer.engines.numpy.compiled import attention
libc, page = ctypes.CDLL(None), mmap.PAGESIZE
kept = []
def guarded(*shape):
    size = 4 * prod(shape)
    pages = -(-size // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for at in (begin, begin + (pages + 1) * page):
        assert libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(page), 0) == 0
    start = page + (pages * page - size if sys.argv[1] == "True" else 0)
    kept.append(memory)
    return np.frombuffer(memory, np.float32, prod(shape), start).reshape(shape)
def heads_inside(lead, rows, width, dtype):
    return guarded(*lead[:-1], rows, lead[-1], width).swapaxes(-2, -3)
attention.heads_inside = heads_inside
rng = np.random.default_rng(0)
for causal in (False, True):
    for queries, keys in ((1, 1), (15, 15), (16, 31), (97, 97), (205, 245), (222, 300)):
        for width, value in ((1, 17), (16, 16), (33, 8)):
            sizes = (queries, width), (keys, width), (keys, value), (queries, value)
            arrays = [guarded(2, *size) for size in sizes]
            for x in arrays:
                x[...] = 5 * rng.normal(size=x.shape)
            mixed, gradient = attention.attend(*arrays[:3], None, causal, 1.0)
            gradient(arrays[3])
print("nothing touched")
"""


def test_blocks_are_made_of_whole_tiles():
    """All memory safety rests on this: nothing looks at bounds inside a tile."""
    assert BAND % ROWS == BLOCK % ROWS == BLOCK % COLUMNS == 0
    assert BLOCK <= WIDTH
    assert COLUMNS % LANES == 0


@pytest.mark.parametrize(
    ("kernel", "beside"), [("attention_kernel", "tiles"), ("decoding_kernel", "atomics")]
)
def test_a_kernel_names_the_file_of_its_pieces(kernel, beside):
    """Otherwise numba would go on with the machine code of the old pieces."""
    folder = Path(compiled_way.__file__).parent
    source = (folder / f"{beside}.py").read_bytes().replace(b"\r\n", b"\n")
    expected = hashlib.sha256(source).hexdigest()[:16]
    named = import_module(f"clearformer.engines.numpy.compiled.{kernel}").PIECES
    assert named == expected, f"write {expected} into PIECES of {kernel}.py"


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
    wide = v.astype(np.float64)
    assert compiled_way.takes(q, k, v, None, True)
    assert compiled_way.takes(q, k[:, :10], v[:, :10], None, False)
    for arrays in (
        [q[0], k, v],
        [q, k, v[:1]],
        [q, k, v[0]],
        [q, k, v[..., :0]],
        [q[:0], k[:0], v[:0]],
        [q, k[:, :10], v[:, :10]],
        [q, k, v[:, :10]],
        [q, k[..., :3], v],
        [q[0, 0], k[0, 0], v[0, 0]],
        [wide, k, v],
        [q, wide, v],
        [q, k, wide],
    ):
        assert not compiled_way.takes(*arrays, None, True)
    assert not compiled_way.takes(q, k, v, np.ones((20, 20), bool), True)


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
    key_alone = [arrays[0], Tape(compiled=True).watch(arrays[1]), arrays[2]]
    taken.clear()
    ops.attention(*key_alone, causal=True)
    assert taken
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
    assert pytest.approx(SAFE_SCORE * np.log2(np.e)) == SAFE


def test_tiles_refuse_numbers_of_another_type(rng):
    """Their bits would be read as those of float32."""
    wide = rng.normal(size=(1, 4, 1, 4))
    rooms = np.empty((1, 4), np.float32), np.empty((1, 4), np.float32)
    with pytest.raises(TypingError, match="float64"):
        forwards(wide, wide, wide, np.float32(1), True, (0, 1), (0, 1), wide.copy(), *rooms)
