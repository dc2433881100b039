"""The one place that chooses an engine by name."""

import os
from types import ModuleType

from clearformer.errors import ConfigurationError

ENGINES = ("numpy",)

MOST_WORKERS = 8
"""More threads than this gain little on models of a laptop's size."""


def choose_engine(name: str) -> ModuleType:
    """The engine called `name`.

    Raises:
        ConfigurationError: if there is none of that name.
    """
    if name not in ENGINES:
        raise ConfigurationError(f"engine must be one of {', '.join(ENGINES)}; got {name!r}")
    from clearformer.engines import numpy

    return numpy


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def suitable_workers(batch: int) -> int:
    """Threads that share a batch: one per processor, none without a row."""
    return max(1, min(processors(), batch, MOST_WORKERS))
