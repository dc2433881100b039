"""What some work holds at its height, on both engines."""

import tracemalloc

import numpy as np
import pytest

from clearformer.engines.choose import choose_engine
from engines.runners import needs_torch

COUNT = 1_000_000
BYTES = 4 * COUNT


def of_numpy():
    a = np.ones(COUNT, np.float32)
    b = a + 1  # two
    c = b * 2  # three
    del b
    view = c[10:].reshape(3, -1)
    return view + a[10:].reshape(3, -1)  # three


def of_torch():
    import torch

    a = torch.ones(COUNT)
    b = a + 1
    c = b * 2
    del b
    view = c[10:].reshape(3, -1)
    return view + a[10:].reshape(3, -1)


WORK = {"numpy": of_numpy, "torch": of_torch}

every_engine = pytest.mark.parametrize(
    "engine", ["numpy", pytest.param("torch", marks=needs_torch)]
)


@every_engine
def test_it_is_what_lives_at_once(engine):
    found = choose_engine(engine).height_of(WORK[engine])
    assert 3 * BYTES <= found < 3.01 * BYTES


@every_engine
def test_the_height_may_be_in_the_middle(engine):
    def work():
        WORK[engine]()

    found = choose_engine(engine).height_of(work)
    assert 3 * BYTES <= found < 3.01 * BYTES


@needs_torch
def test_gradients_and_what_they_need_are_tensors_too():
    import torch

    def work():
        x = torch.ones(COUNT, requires_grad=True)
        (x.sigmoid() * x.tanh()).sum().backward()
        return x

    found = choose_engine("torch").height_of(work)
    assert 4 * BYTES <= found <= 8 * BYTES


@needs_torch
def test_what_was_there_before_counts_where_it_is_used():
    import torch

    there, unused = torch.ones(COUNT), torch.ones(COUNT)
    found = choose_engine("torch").height_of(lambda: there + 1)
    assert 2 * BYTES <= found < 2.01 * BYTES
    assert len(unused) == COUNT


def test_who_traces_already_goes_on_tracing():
    tracemalloc.start()
    try:
        choose_engine("numpy").height_of(of_numpy)
        assert tracemalloc.is_tracing()
    finally:
        tracemalloc.stop()
    choose_engine("numpy").height_of(of_numpy)
    assert not tracemalloc.is_tracing()
