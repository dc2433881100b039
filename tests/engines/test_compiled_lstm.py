"""The compiled way through an LSTM is the plain one: same numbers but for the order of sums."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.numpy.compiled.choice import SWITCH
from clearformer.engines.numpy.learner import Learner
from clearformer.engines.tape import Tape
from clearformer.models.recurrent.build import LAYERS
from engines.runners import needs_torch

pytest.importorskip("numba", reason="the extra `fast` is not installed")


def operands(rng, batch=3, seq=5, width=4, hidden=6, biased=True, dtype=np.float32):
    shapes = [(batch, seq, width), (batch, hidden), (batch, hidden)]
    arrays = [rng.normal(size=shape) for shape in shapes]
    arrays += [
        rng.normal(size=(rows, 4 * hidden)) * 2 / np.sqrt(hidden) for rows in (width, hidden)
    ]
    arrays += [rng.normal(size=4 * hidden)] * biased
    return [x.astype(dtype) for x in arrays]


def found(compiled, arrays, received, lengths=None, place=0):
    """A result and every gradient, where result number `place` receives something."""
    tape = Tape(compiled=compiled)
    leaves = [tape.watch(x) for x in arrays]
    results = ops.lstm(*leaves, lengths=lengths)
    tape.backward(results[place], received)
    return [*(x.data for x in results), *map(tape.gradient, leaves)]


@pytest.mark.parametrize("hidden", [1, 6, 33, 64])
@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5, 7])
def test_values_and_gradients_are_those_of_the_plain_way(batch, hidden, rng):
    arrays = operands(rng, batch, hidden=hidden)
    received = rng.normal(size=(batch, 5, hidden)).astype(np.float32)
    plain, compiled = (found(way, arrays, received) for way in (False, True))
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(other, one, 2e-5, 2e-5)


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("lengths", [None, [2, 5, 0], [0, 0, 0]])
def test_so_with_lengths_without_a_bias_and_for_every_result(lengths, place, rng):
    lengths = None if lengths is None else np.array(lengths)
    arrays = operands(rng, biased=False)
    shape = (3, 5, 6) if place == 0 else (3, 6)
    received = rng.normal(size=shape).astype(np.float32)
    plain, compiled = (found(way, arrays, received, lengths, place) for way in (False, True))
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_allclose(other, one, 2e-5, 2e-5)


@needs_torch
def test_a_long_sequence_is_as_near_to_float64_as_that_of_pytorch(rng):
    """tanh is a quotient of polynomials here: as good as that of the library."""
    import torch

    arrays = operands(rng, 4, 200, hidden=32)
    exact = ops.lstm(*(x.astype(np.float64) for x in arrays))[0]
    compiled = found(True, arrays, np.ones((4, 200, 32), np.float32))[0]
    theirs = ops.lstm(*map(torch.from_numpy, arrays))[0].numpy()
    assert np.abs(compiled - exact).max() < 3 * np.abs(theirs - exact).max() + 1e-6


def test_large_sums_bend_to_one_and_what_is_no_number_stays_none(rng):
    arrays = operands(rng)
    arrays[0][0] = 1e30
    arrays[0][1, 3] = np.nan
    outputs = found(True, arrays, np.ones((3, 5, 6), np.float32))[0]
    assert np.abs(outputs[0]).max() <= 1 + 1e-6
    assert np.isfinite(outputs[1, :3]).all()
    assert np.isnan(outputs[1, 3:]).all()
    assert np.isfinite(outputs[2]).all()


def test_float64_goes_the_plain_way(rng):
    arrays = operands(rng, dtype=np.float64)
    received = np.ones((3, 5, 6))
    plain, compiled = (found(way, arrays, received) for way in (False, True))
    for one, other in zip(plain, compiled, strict=True):
        np.testing.assert_array_equal(other, one)


def test_several_threads_scan_rows_of_their_own(rng):
    arrays = operands(rng, 6, 20, hidden=16)
    received = rng.normal(size=(6, 20, 16)).astype(np.float32)
    whole = found(True, arrays, received)

    def rows(begin):
        part = [x[begin : begin + 3] if n < 3 else x for n, x in enumerate(arrays)]
        return found(True, part, received[begin : begin + 3])

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(rows, (0, 3))
    np.testing.assert_allclose(np.concatenate([first[0], second[0]]), whole[0], 1e-6, 1e-6)
    for one, other, both in zip(first[6:], second[6:], whole[6:], strict=True):
        np.testing.assert_allclose(one + other, both, 2e-5, 2e-5)


@pytest.mark.parametrize(("choice", "seen"), [("always", [3, 3]), ("never", [6])])
def test_with_kernels_a_narrow_lstm_is_split_by_rows(choice, seen, monkeypatch):
    """Threads that each made its short steps would wait for each other."""
    monkeypatch.setenv(SWITCH, choice)
    monkeypatch.setattr("clearformer.engines.numpy.learner.copies_work", lambda: False)
    rows: list[int] = []
    shapes = (2, 32), (8, 32), (32,)
    layer = LAYERS["lstm"](*(np.full(shape, 0.1, np.float32) for shape in shapes))

    def loss(layer, x, rng):
        rows.append(len(x))
        row = ops.reshape(layer(x)[0], (1, x.size * 4))
        return ops.reshape(ops.matmul(row, np.ones((row.shape[1], 1), np.float32)), ())

    Learner(layer, loss, 2).loss_and_gradients(np.ones((6, 3, 2), np.float32))
    assert rows == seen
