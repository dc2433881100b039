"""A recurrent layer that somebody listens to: its steps one by one, gates and states in sight."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clearformer.engines.dispatch import array_of, engine_of
from clearformer.models.tap import Tap

Result = tuple[Any, tuple[Any, ...]]
"""Outputs (batch, seq, hidden), and what is handed on."""

Heard = Callable[[str, np.ndarray, int], np.ndarray]
"""For a stage, what it was so far (batch, seq, hidden) and a position: what it is there."""


def listened(layer: Any, x: Any, before: tuple[Any, ...], fused: Result, tap: Tap) -> Result:
    """Tells `tap` of every stage of a layer (batch, seq, hidden).

    Where nothing is replaced, the layer's result is the one of the fused operation. Where something
    is, the steps are made again, and after each the tap is asked anew: a gate that is changed at
    one position changes the gates at later ones, which the tap may change in turn. What comes later
    is 0 at that moment. No gradient goes back through a layer in which something was replaced.

    Args:
        layer: whose `step` tells of its stages.
        x: what comes in.
        before: states from which it starts.
        fused: the result of the fused operation.
        tap: hears, and may replace.
    """
    arrays = layer.with_parameters(lambda _, parameter: array_of(parameter))
    rows, first = array_of(x), tuple(array_of(state) for state in before)
    from_array = engine_of(x).from_array

    def replaced(name: str, stage: np.ndarray) -> Any | None:
        told = from_array(stage, x)
        answer = tap(name, told)
        return None if answer is told else answer

    def plain(_: str, stage: np.ndarray, position: int) -> np.ndarray:
        return stage[:, position]

    def changed(name: str, stage: np.ndarray, position: int) -> np.ndarray:
        answer = replaced(name, stage.copy())
        return (stage if answer is None else array_of(answer))[:, position]

    stages, _, _ = _steps(arrays, rows, first, plain)
    answers = [replaced(name, stage) for name, stage in stages.items()]
    if all(answer is None for answer in answers):
        return fused
    _, hidden, after = _steps(arrays, rows, first, changed)
    return from_array(hidden, x), after


def _steps(
    layer: Any, x: np.ndarray, states: tuple[Any, ...], heard: Heard
) -> tuple[dict[str, np.ndarray], np.ndarray, tuple[Any, ...]]:
    """Every stage as it was computed, the hidden states that were gone on with, the last states."""
    stages: dict[str, np.ndarray] = {}
    batch, seq, _ = x.shape
    hidden = np.zeros((batch, seq, states[0].shape[-1]), states[0].dtype)
    for position in range(seq):

        def say(name: str, now: np.ndarray, at: int = position) -> np.ndarray:
            if name not in stages:
                stages[name] = np.zeros((batch, seq, now.shape[-1]), now.dtype)
            stages[name][:, at] = now
            return heard(name, stages[name], at)

        states = layer.step(x[:, position], states, say)
        hidden[:, position] = states[0]
    return stages, hidden, states
