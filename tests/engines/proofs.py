"""What it takes to believe a gradient: finite differences, and PyTorch. Each check raises itself.

Outputs are weighted with fixed random numbers before they are summed: a plain sum would hide
mistakes (the sum of a softmax, say, is constant whatever its input).
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from clearformer.verification.differences import against_differences
from clearformer.verification.sides import Outcome
from engines.runners import BY_NUMPY, ByNumPy, ByPyTorch

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
    """Compares an engine's gradients with central differences, in float64."""
    inputs = tuple(np.asarray(x, np.float64) for x in arrays)
    weights = weights_like(by.value(function, *inputs))
    outcome = Outcome(inputs, weights, *by.gradients(function, weights, *inputs))
    slopes = against_differences(partial(by.value, function), outcome)
    for number, (found, expected) in enumerate(slopes):
        np.testing.assert_allclose(
            found, expected, relative, absolute, err_msg=f"slope in direction {number}"
        )


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
