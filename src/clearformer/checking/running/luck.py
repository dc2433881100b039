"""Random generators that begin alike, so that what is found does not depend on luck.

They begin once before all calls, not before each: what draws numbers then gives something else
the second time, which is how dropout shows.
"""

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def seed() -> None:
    """Starts the generators of Python, NumPy and, where it is loaded, PyTorch."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what learners use is what has to begin alike
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


@contextmanager
def seeded() -> Iterator[None]:
    """Starts the generators for the block and afterwards puts back what they were."""
    torch = sys.modules.get("torch")
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch_before = torch.get_rng_state() if torch is not None else None
    seed()
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(torch_before)
