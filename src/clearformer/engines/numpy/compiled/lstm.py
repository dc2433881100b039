"""The compiled way through the steps of an LSTM; called like the plain one in `numpy.lstm`."""

import numpy as np

from clearformer.engines.numpy.compiled import lstm_kernel
from clearformer.engines.numpy.lstm import Gradients, Kept, Rooms
from clearformer.engines.numpy.unrolled import Unrolled


def forwards(
    steps: Unrolled,
    first: tuple[np.ndarray, np.ndarray],
    w: np.ndarray,
    u: np.ndarray,
    bias: np.ndarray | None,
) -> Kept:
    """All gates, states and cells: one product for all x W, then one call."""
    gates = np.matmul(steps.x, w)
    if bias is not None:
        gates += bias
    states, cells = (steps.states(one, gates.dtype) for one in first)
    kept = Kept(gates, states, cells, np.empty((len(gates), len(u)), gates.dtype))
    lstm_kernel.forwards(steps.places(), np.ascontiguousarray(u), *kept)
    return kept


def backwards(
    steps: Unrolled,
    kept: Kept,
    weights: tuple[np.ndarray, np.ndarray],
    rooms: Rooms,
    received: tuple[np.ndarray | None, ...],
) -> Gradients:
    """The gradients of x, of the initial state and cell, of W and U; and dL/da of all gates."""
    gates, states, cells, bends = kept
    to_outputs, to_hidden, to_cell = received
    incoming = (
        bends[:0]
        if to_outputs is None
        else np.require(steps.packed(to_outputs), requirements=("C", "W"))
    )
    carried, left = steps.carried(to_hidden, states), steps.carried(to_cell, states)
    back, (w, u) = np.empty_like(gates), map(np.ascontiguousarray, weights)
    lstm_kernel.backwards(steps.places(), u, gates, cells, bends, incoming, carried, left, back)
    to_w = np.matmul(steps.x.T, back, out=rooms[0])
    to_u = np.matmul(states[steps.before].T, back, out=rooms[1])
    found = steps.unpacked(np.matmul(back, w.T)), steps.first(carried), steps.first(left)
    return (*found, to_w, to_u), back
