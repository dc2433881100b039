"""A case of an operation, run by PyTorch itself."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clearformer.verification.case import Case


def theirs(case: Case) -> Callable[..., Any]:
    """A function of PyTorch's tensors: the case as somebody would write it there."""
    import torch

    from engines import twins

    constants = {
        name: torch.from_numpy(x.copy())
        for name, x in case.constants.items()
        if isinstance(x, np.ndarray)
    }
    return lambda *tensors: case.run(getattr(twins, case.operation), tensors, **constants)
