"""What a tape keeps, and when it lets go. Python's collector is off: nothing may need it."""

import gc
import tracemalloc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.tape import Tape, TapeTensor
from clearformer.verification.case import Case
from clearformer.verification.cases import CASES

SIZE = 400
BIG = SIZE * SIZE * 8
"""Bytes of one array of these tests; whatever else Python needs is far smaller."""


@pytest.fixture(autouse=True)
def without_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


def allocated() -> int:
    """Bytes held now; NumPy reports its arrays to tracemalloc."""
    return tracemalloc.get_traced_memory()[0]


def network(x: TapeTensor, weight: TapeTensor) -> TapeTensor:
    hidden = ops.gelu(ops.linear(ops.rms_norm(x), weight))
    mixed = ops.attention(hidden, hidden, ops.silu(hidden), causal=True)
    return ops.cross_entropy(ops.softmax(mixed + x), np.arange(SIZE))


def test_after_backward_a_tape_holds_the_gradients_of_the_leaves_and_no_other_array(rng, traced):
    ops.attention(*np.ones((3, SIZE, 1)), causal=True)  # its table stays, for the next call
    arrays = rng.normal(size=(2, SIZE, SIZE))
    before = allocated()
    tape = Tape()
    leaves = [tape.watch(array) for array in arrays]
    result = network(*leaves)
    recorded = allocated() - before
    tape.backward(result)
    del result
    assert recorded > 6 * BIG, "the test must be able to see what is kept"
    assert allocated() - before < 2.5 * BIG
    tape.forget(len(leaves))
    assert allocated() - before < 0.5 * BIG


def test_a_side_branch_is_let_go_too(rng, traced):
    x = rng.normal(size=(SIZE, SIZE))
    before = allocated()
    tape = Tape()
    leaf = tape.watch(x)
    ops.gelu(ops.silu(leaf))
    result = leaf + leaf
    ops.gelu(result)
    tape.backward(result)
    del result
    assert allocated() - before < 1.5 * BIG


def test_steps_on_the_same_tape_need_no_more_memory_each(rng, traced):
    tape = Tape()
    leaves = [tape.watch(array) for array in rng.normal(size=(2, SIZE, SIZE))]
    held = []
    for _ in range(4):
        tape.backward(network(*leaves))
        tape.forget(len(leaves))
        held.append(allocated())
    assert held[-1] - held[0] < 0.5 * BIG


def test_backwards_the_arrays_are_freed_on_the_way(rng, traced):
    """At no moment do all arrays and all gradients exist together."""
    tape = Tape()
    x = tape.watch(rng.normal(size=(SIZE, SIZE)))
    before = allocated()
    result = x
    for _ in range(20):
        result = ops.silu(result)
    recorded = allocated() - before
    tracemalloc.reset_peak()
    tape.backward(result)
    assert tracemalloc.get_traced_memory()[1] - before < recorded + 6 * BIG


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_forgotten_tape_is_freed_at_once(case: Case, rng):
    """A gradient function that held its own tensor would be a cycle."""
    tape = Tape()
    leaves = [tape.watch(array) for array in case.arrays(rng)]
    result = case.ours(*leaves)
    arrays = [weakref.ref(tensor.data) for tensor in (*leaves, result)]
    del tape, leaves, result
    assert all(array() is None for array in arrays)
