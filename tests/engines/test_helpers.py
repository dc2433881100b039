"""The laws of helping: every job is done once, by whoever comes first, with the same result."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event, current_thread

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.helpers import ALONE, Helpers, parted
from clearformer.engines.numpy.compiled.choice import SWITCH
from clearformer.engines.numpy.learner import Learner
from clearformer.engines.tape import Tape
from clearformer.models.recurrent.build import LAYERS
from clearformer.models.recurrent.layers import NARROW
from engines.runners import needs_torch


@pytest.fixture
def pool():
    with ThreadPoolExecutor(2) as made:
        yield made


def test_every_job_is_done_once(pool):
    for helpers in (ALONE, Helpers(pool, 2)):
        done: list[int] = []
        helpers.share([partial(done.append, n) for n in range(20)])
        assert sorted(done) == list(range(20))


def test_a_job_that_nobody_has_begun_is_done_by_who_asked():
    held = Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(held.wait)
        try:
            assert Helpers(pool, 1).ask(current_thread)() is current_thread()
        finally:
            held.set()


def test_a_helper_does_what_it_is_asked_while_the_caller_is_busy(pool):
    begun = Event()

    def job():
        begun.set()
        return current_thread()

    finish = Helpers(pool, 2).ask(job)
    assert begun.wait(60)
    assert finish() is not current_thread()


def test_what_goes_wrong_with_a_helper_is_raised(pool):
    def job():
        raise ValueError("a mistake")

    with pytest.raises(ValueError, match="a mistake"):
        Helpers(pool, 2).share([job, lambda: None])


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_parts_are_all_of_the_rows(parts):
    found = [row for rows in parted(slice(3, 8), parts) for row in range(rows.start, rows.stop)]
    assert found == list(range(3, 8))


@pytest.mark.parametrize("lengths", [None, np.array([9, 0, 5, 9, 1])])
@pytest.mark.parametrize("count", [1, 2])
def test_help_changes_no_value_and_no_gradient(count, lengths, pool, rng):
    arrays = [
        rng.normal(size=shape)
        for shape in ((5, 9, 6), (5, 7), (5, 7), (6, 28), (7, 28), (28,), (5, 9, 7))
    ]
    found = []
    for helpers in (ALONE, Helpers(pool, count)):
        tape = Tape(helpers)
        leaves = [tape.watch(x) for x in arrays[:-1]]
        outputs = ops.lstm(*leaves, lengths=lengths)[0]
        tape.backward(outputs, arrays[-1])
        found.append([outputs.data, *map(tape.gradient, leaves)])
    for alone, helped in zip(*found, strict=True):
        np.testing.assert_allclose(helped, alone, 1e-12, 1e-14)


@pytest.mark.parametrize(("cell", "width", "whole"), [
    ("lstm", NARROW - 1, True), ("lstm", NARROW, False), ("gru", 8, False), ("rnn", 8, False),
])  # fmt: skip
def test_only_a_narrow_lstm_is_computed_in_one_piece(cell, width, whole, monkeypatch):
    """By plain NumPy on threads: for kernels see `test_compiled_lstm`."""
    monkeypatch.setenv(SWITCH, "never")
    monkeypatch.setattr("clearformer.engines.numpy.learner.copies_work", lambda: False)
    wide = {"lstm": 4, "gru": 3, "rnn": 1}[cell] * width
    row = [np.zeros(width, np.float32)] if cell == "gru" else []
    weights = [np.zeros(shape, np.float32) for shape in ((2, wide), (width, wide), (wide,))]
    layer = LAYERS[cell](*weights, *row)
    seen: list[int] = []

    def loss(layer, x, rng):
        seen.append(len(x))
        row = ops.reshape(layer(x)[0], (1, x.shape[0] * x.shape[1] * width))
        return ops.reshape(ops.matmul(row, np.ones((row.shape[1], 1), np.float32)), ())

    learner = Learner(layer, loss, 2)
    learner.loss_and_gradients(np.zeros((6, 3, 2), np.float32))
    assert seen == ([6] if whole else [3, 3])
    assert learner.threads == 2


@needs_torch
@pytest.mark.parametrize(("width", "whole"), [(NARROW - 1, True), (NARROW, False)])
def test_pytorch_shares_a_narrow_lstm_out_by_itself(width, whole):
    """One worker with all threads; the gradients are those of split rows."""
    import torch

    from clearformer.engines.torch.learner import Learner as OnTorch

    before, seen = torch.get_num_threads(), []
    rng = np.random.default_rng(0)
    shapes = (2, 4 * width), (width, 4 * width), (4 * width,)
    layer = LAYERS["lstm"](*(rng.normal(size=shape).astype(np.float32) / 20 for shape in shapes))

    def loss(layer, x, rng):
        seen.append((len(x), torch.get_num_threads()))
        return layer(torch.from_numpy(x))[0].square().mean()

    learner, alone = OnTorch(layer, loss, 2), OnTorch(layer, loss, 1)
    x = rng.normal(size=(6, 3, 2)).astype(np.float32)
    for each in (learner, alone):
        with each.running():
            each.loss_and_gradients(x)
        each.gather()
    assert seen == ([(6, 2), (6, 1)] if whole else [(3, 1), (3, 1), (6, 1)])
    assert torch.get_num_threads() == before
    torch.testing.assert_close(learner.gradients, alone.gradients, rtol=1e-4, atol=1e-6)
