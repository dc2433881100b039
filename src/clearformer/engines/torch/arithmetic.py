"""Sums and products, element by element."""

from typing import Any

import numpy as np
from torch import Tensor

from clearformer.engines.torch.constants import constant


def add(a: Any, b: Any) -> Tensor:
    """a + b; an array beside a tensor crosses over and takes its type."""
    return _beside(a, b) + _beside(b, a)


def multiply(a: Any, b: Any) -> Tensor:
    """a · b; an array beside a tensor crosses over and takes its type."""
    return _beside(a, b) * _beside(b, a)


def _beside(x: Any, other: Any) -> Any:
    return constant(x, other) if isinstance(x, np.ndarray) else x
