"""Where a run stands: all that it goes on from beside its weights."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.engines.ranks import Alone
from clearformer.errors import RunError
from clearformer.models.kind import Configuration
from clearformer.training.checkpoint import Checkpoint
from clearformer.training.loop import Loop
from clearformer.training.objective import Objective

CARRIED = "carried."
"""Names of arrays in a save that go from batch to batch begin with it; they lie beside the
optimizer's."""


def carried_by(objective: Objective[Any], ranks: Alone) -> dict[str, np.ndarray]:
    """What an objective carries from batch to batch, under the names that a save has for it.

    Each rank has that of its own rows; every rank must call this.
    """
    carried = objective.carried()
    return {f"{CARRIED}{name}": ranks.added_up(array) for name, array in carried.items()}


def state_of(
    loop: Loop, evaluations: int, model: Configuration, tokenizer: str
) -> dict[str, object]:
    """Where a loop stands, and how many evaluations were due so far; plain JSON.

    With them what it was trained on: the model, and the fingerprint of the tokenizer.
    """
    return {
        "step": loop.step,
        "tokens_seen": loop.tokens_seen,
        "seconds": loop.seconds,
        "other_seconds": loop.other_seconds,
        "recent_loss": loop.recent_loss if math.isfinite(loop.recent_loss) else None,
        "evaluations": evaluations,
        "batches": loop.batches.state(),
        "model": model.to_json(),
        "tokenizer": tokenizer,
    }


def restore_state(loop: Loop, objective: Objective[Any], checkpoint: Checkpoint) -> int:
    """Sets a loop, its optimizer and objective to where a save stands; returns the evaluations.

    Raises:
        RunError: something in it is missing, or is not what it should be.
    """
    state = checkpoint.state
    try:
        optimizer, carried = _apart(checkpoint.optimizer)
        loop.optimizer.restore(optimizer)
        objective.carry_on(carried)
        loop.batches.restore(state["batches"])  # type: ignore[arg-type]
        loop.step = _count(state, "step")
        loop.tokens_seen = _count(state, "tokens_seen")
        loop.seconds = _seconds(state, "seconds")
        loop.other_seconds = _seconds(state, "other_seconds")
        loss = state["recent_loss"]
        loop.recent_loss = math.nan if loss is None else float(loss)  # type: ignore[arg-type]
        if loop.step != checkpoint.step:
            raise ValueError(f"step {loop.step} in a save of step {checkpoint.step}")
        return _count(state, "evaluations")
    except (KeyError, TypeError, ValueError) as fault:
        raise RunError(f"{checkpoint.path}: state.json is damaged ({fault!r})") from None


def _apart(
    arrays: Mapping[str, np.ndarray],
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Those of the optimizer, and what the objective carries from batch to batch."""
    carried = {n.removeprefix(CARRIED): a for n, a in arrays.items() if n.startswith(CARRIED)}
    return {n: a for n, a in arrays.items() if not n.startswith(CARRIED)}, carried


def _count(state: Mapping[str, object], name: str) -> int:
    value = state[name]
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}")
    return value


def _seconds(state: Mapping[str, object], name: str) -> float:
    value = state[name]
    if type(value) not in (int, float) or value < 0:  # type: ignore[operator]
        raise ValueError(f"{name} is {value!r}")
    return float(value)  # type: ignore[arg-type]
