"""The compiled way of decoding: two threads give the bits that one gives."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from clearformer.engines.numpy.compiled import decoding
from clearformer.engines.numpy.compiled.decoding_kernel import (
    AT,
    AWAY,
    STATE,
    WAITING,
    WANTED,
    share,
)
from clearformer.engines.numpy.decoding import decoder
from clearformer.engines.plan import Folded
from clearformer.generation.plan import plan_of
from clearformer.models.cache import KeyValueCache
from models.decoders import VARIANTS, random_decoder, random_ids

DEADLINE = 60.0
"""Seconds; on a busy machine a thread may wait for long."""


class Always:
    """A pace that never changes."""

    def __init__(self, together: bool):
        self.together = together

    steady = 1

    def took(self, seconds: float, pieces: int = 1) -> None:
        pass


def logits(monkeypatch, model, ids, together: bool) -> tuple[np.ndarray, bool]:
    """Those after each token, and whether a second thread took part."""
    monkeypatch.setattr(decoding, "Pace", lambda: Always(together))
    cache = KeyValueCache(len(model.blocks), len(ids))
    made = decoder(plan_of(model), cache, compiled=True)
    made._room.orders[AT] = -1
    for _ in range(2000):  # the second thread needs a moment to come
        cache.clear()
        found = np.array([made(int(token)).copy() for token in ids])
        took_part = bool(made._room.orders[AT] >= 0)
        if took_part or not together:
            break
    assert made._room.orders[STATE] <= WAITING or together
    return found, took_part


@pytest.mark.parametrize("recipe", ["modern", "classic"])
@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("amd", [False, True])
def test_two_threads_give_the_same_bits_as_one(recipe, heads, amd, monkeypatch):
    monkeypatch.setattr(decoding, "made_by_amd", lambda: amd)
    configuration = replace(
        VARIANTS[f"the {recipe} recipe"], layers=5, heads=heads, embed=12, hidden=7, context=40
    )
    model, ids = random_decoder(configuration, np.float32), random_ids(configuration, 40)
    alone, took_part = logits(monkeypatch, model, ids, together=False)
    assert not took_part
    beside, _ = logits(monkeypatch, model, ids, together=True)
    np.testing.assert_array_equal(beside, alone)


@pytest.mark.parametrize("activation", ["squared_relu", "gelu", "swiglu"])
@pytest.mark.parametrize("hidden", [1, 2, 7])
@pytest.mark.parametrize("amd", [False, True])
def test_rows_are_read_one_by_one_or_two_at_once(activation, hidden, amd, monkeypatch):
    """As the model itself computes; also an odd number of rows, of which one is made twice."""
    monkeypatch.setattr(decoding, "made_by_amd", lambda: amd)
    configuration = replace(VARIANTS["the modern recipe"], activation=activation, hidden=hidden)
    model, ids = random_decoder(configuration, np.float64), random_ids(configuration, 8)
    found, _ = logits(monkeypatch, model, ids, together=False)
    np.testing.assert_allclose(found, model(ids[None])[0], 0, 1e-12)


def test_a_large_model_is_waited_for_longer(monkeypatch):
    given = []
    monkeypatch.setattr(decoding, "SecondThread", lambda *arguments: given.append(arguments[-1]))
    model = random_decoder(VARIANTS["the modern recipe"], np.float32)
    for bytes_ in (1, 500_000_000):
        monkeypatch.setattr(decoding, "_bytes_of", lambda _, bytes_=bytes_: bytes_)
        decoder(plan_of(model), KeyValueCache(len(model.blocks), 8), compiled=True)
    assert given == [1_000_000, 6_250_000]


def test_the_second_thread_waits_through_a_token_it_is_wanted_for():
    """A layer of a large model takes longer than it looks for the next token."""
    configuration = VARIANTS["the modern recipe"]
    model, cache = random_decoder(configuration, np.float32), KeyValueCache(configuration.layers, 8)
    made = decoder(plan_of(model), cache, compiled=True)
    orders = made._room.orders
    share(*made._given, 1)
    assert orders[STATE] == AWAY
    orders[WANTED] = 1
    second = threading.Thread(target=share, args=(*made._given, 1), daemon=True)
    second.start()
    end = time.monotonic() + DEADLINE
    while orders[STATE] != WAITING:
        assert time.monotonic() < end
        time.sleep(0.001)
    second.join(0.1)
    assert second.is_alive() and orders[STATE] == WAITING
    orders[WANTED] = 0
    second.join(DEADLINE)
    assert not second.is_alive() and orders[STATE] == AWAY


def test_weights_begin_at_a_line_of_the_cache():
    configuration = VARIANTS["the modern recipe"]
    model = random_decoder(configuration, np.float32)
    made = decoder(plan_of(model), KeyValueCache(configuration.layers, 8), compiled=True)
    for name in ("query_key_value", "output", "expand", "project", "logits"):
        array = getattr(made._given[0], name)
        assert array.ctypes.data % decoding.LINE == 0 and array.flags.c_contiguous, name


@pytest.mark.parametrize("gained", [False, True])
@pytest.mark.parametrize("rows", [1, 63, 64, 150])
def test_matrices_are_turned_whole_whatever_their_size(rows, gained, rng):
    """Some rows at once, and those that are left over."""
    matrices = [rng.normal(size=(rows, 7)).astype(np.float32) for _ in range(3)]
    gain = rng.normal(size=rows).astype(np.float32) if gained else None
    stack = decoding._stacked([Folded(each, None, False, None, gain) for each in matrices])
    for found, matrix in zip(stack, matrices, strict=True):
        np.testing.assert_array_equal(found, matrix.T if gain is None else matrix.T * gain)
