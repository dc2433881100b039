"""Whether kernels are compiled: numba is there, wanted, and the work is long enough for it.

Nothing here imports numba, so asking costs less than a millisecond.
"""

import os
import sys
from importlib.util import find_spec

from clearformer.errors import ConfigurationError

SWITCH = "CLEARFORMER_COMPILED"
"""The environment variable: never, always, or auto (as if it were not set)."""

CHOICES = ("auto", "never", "always")

WORTH_ITS_START = 1.5
"""Seconds of plain work from which compiled kernels are loaded. Importing numba and loading kernels
that are already compiled takes about half a second; compiling them, once per installation, a few.
"""


def is_compiled(seconds: float) -> bool:
    """Whether work that takes about `seconds` in plain NumPy is done by compiled kernels.

    The answer depends on the work alone, not on what has been compiled before, so that the same
    seed gives the same numbers each time.

    Raises:
        ConfigurationError: if the switch has an unknown value, or wants what is not installed.
    """
    chosen = os.environ.get(SWITCH) or "auto"
    if chosen not in CHOICES:
        raise ConfigurationError(
            f"the environment variable {SWITCH} must be one of {', '.join(CHOICES)}; got {chosen!r}"
        )
    if chosen == "never":
        return False
    if chosen == "always":
        if not has_numba():
            raise ConfigurationError(
                f"{SWITCH}=always needs numba, which is not installed; "
                "try pip install 'clearformer[fast]', or leave the variable out"
            )
        return True
    return seconds >= WORTH_ITS_START and has_numba()


def has_numba() -> bool:
    """Whether numba is installed; asks without importing it."""
    return "numba" in sys.modules or find_spec("numba") is not None
