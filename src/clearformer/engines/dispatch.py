"""Which engine a tensor belongs to, read off its type."""

from types import ModuleType
from typing import Any

import numpy as np

from clearformer.engines import numpy as numpy_engine
from clearformer.engines.tape import TapeTensor
from clearformer.errors import ShapeError


def engine_of(*tensors: Any) -> ModuleType:
    """The engine that owns the tensors: NumPy for arrays and for tensors on a tape."""
    for x in tensors:
        kind = type(x)
        if kind is TapeTensor or kind is np.ndarray:  # nearly always, and quickly told
            continue
        if not isinstance(x, np.ndarray):
            raise ShapeError(
                f"expected a NumPy array or a tensor on a tape, got {type(x).__name__}; "
                "wrap lists with numpy.array(...)"
            )
    return numpy_engine
