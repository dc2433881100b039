"""What it takes to believe a gradient: finite differences, and PyTorch. Each check raises itself.

Outputs are weighted with fixed random numbers before they are summed: a plain sum would hide
mistakes (the sum of a softmax, say, is constant whatever its input).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from engines.runners import BY_NUMPY, ByNumPy, ByPyTorch

STEP = 1e-5
"""How far to either side: rounding then costs 1e-11, and the third derivative 2e-11 of itself."""

MOST_ENTRIES = 8
"""So many entries of an array are moved one by one."""

few_examples = settings(max_examples=40, deadline=None, derandomize=True)
"""For properties: the same examples in every run, and no limit of time on any of them."""


weighted_gradients = BY_NUMPY.gradients


def weights_like(value: Any) -> np.ndarray:
    """Fixed random weights of the shape and type of `value`."""
    return np.random.default_rng(1).normal(size=value.shape).astype(value.dtype)


def check_gradient(
    function: Callable[..., Any],
    *arrays: np.ndarray,
    by: ByNumPy | ByPyTorch = BY_NUMPY,
    relative: float = 1e-6,
    absolute: float = 1e-8,
) -> None:
    """Compares an engine's gradients with central differences, in float64.

    Every entry by itself (of large arrays a random choice of them), then all entries at once along
    a random direction, which a mistake in any entry would turn.
    """
    arrays = tuple(np.asarray(x, np.float64) for x in arrays)
    weights = weights_like(by.value(function, *arrays))
    _, gradients = by.gradients(function, weights, *arrays)
    chance = np.random.default_rng(2)
    still = [np.zeros_like(x) for x in arrays]
    for position, x in enumerate(arrays):
        for place in chance.permutation(list(np.ndindex(x.shape)))[:MOST_ENTRIES]:
            direction = list(still)
            direction[position] = np.zeros_like(x)
            direction[position][tuple(place)] = 1
            np.testing.assert_allclose(
                gradients[position][tuple(place)],
                _slope(by, function, weights, arrays, direction),
                relative,
                absolute,
                err_msg=f"gradient of input {position} at {tuple(map(int, place))}",
            )
    direction = [np.where(np.isfinite(x), chance.normal(size=x.shape), 0) for x in arrays]
    along = sum(float((g * d).sum()) for g, d in zip(gradients, direction, strict=True))
    expected = _slope(by, function, weights, arrays, direction)
    np.testing.assert_allclose(along, expected, relative, absolute, err_msg="in all directions")


def _slope(
    by: ByNumPy | ByPyTorch,
    function: Callable[..., Any],
    weights: np.ndarray,
    arrays: Sequence[np.ndarray],
    direction: Sequence[np.ndarray],
) -> float:
    """How fast the weighted sum grows when the arrays move along `direction`."""
    up, down = (
        by.value(
            function, *(np.asarray(x + step * d) for x, d in zip(arrays, direction, strict=True))
        )
        for step in (STEP, -STEP)
    )
    rise = np.zeros_like(up)
    np.subtract(up, down, out=rise, where=up != down)  # -inf that stays -inf did not move
    return float((rise * weights).sum() / (2 * STEP))


def check_against_torch(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *arrays: np.ndarray,
    dtype: Any = np.float64,
    value: float = 1e-12,
    gradient: float = 1e-10,
    size: float = 1.0,
) -> None:
    """Compares value and gradients, their shapes and their types with PyTorch's.

    `ours` takes tensors of ours, `theirs` PyTorch's. In float64 the tolerances are `value` and
    `gradient`, relative and absolute; in float32 PyTorch's own (1.3e-6 relative, 1e-5 absolute),
    the absolute one times `size` where the numbers are about as large as that.
    """
    torch = pytest.importorskip("torch", reason="comparing with PyTorch needs it (extra torch)")
    arrays = tuple(np.array(x, dtype) for x in arrays)
    leaves = [torch.from_numpy(x.copy()).requires_grad_() for x in arrays]
    wanted = theirs(*leaves)
    weights = weights_like(wanted.detach().numpy())
    wanted.backward(torch.from_numpy(weights))
    found, gradients = BY_NUMPY.gradients(ours, weights, *arrays)

    def compare(ours: np.ndarray, theirs: Any, tolerance: float, name: str) -> None:
        narrow = dtype == np.float32
        torch.testing.assert_close(
            torch.from_numpy(np.array(ours, order="C")),
            theirs,
            rtol=1.3e-6 if narrow else tolerance,
            atol=1e-5 * size if narrow else tolerance,
            msg=lambda report: f"{name}: {report}",
        )

    compare(found, wanted.detach(), value, "value")
    for position, (mine, leaf) in enumerate(zip(gradients, leaves, strict=True)):
        their = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        compare(mine, their, gradient, f"gradient of input {position}")
