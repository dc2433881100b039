"""Who made the processor: what is quicker is not the same on all of them."""

import platform
import sys
from functools import cache
from pathlib import Path

AMD = "AuthenticAMD"
"""What processors made by AMD say of themselves."""

DESCRIPTION = Path("/proc/cpuinfo")
"""Where Linux tells of them, the first one first."""


@cache
def made_by_amd() -> bool:
    """Whether it was; False where the system does not tell."""
    told = _first_lines()
    if not told and sys.platform == "win32":  # elsewhere that starts a program
        told = platform.processor()
    return AMD in told


def _first_lines() -> str:
    """Those that tell of the maker; the whole file is long where there are many processors."""
    try:
        with DESCRIPTION.open(encoding="utf-8", errors="replace") as file:
            return file.read(200)
    except OSError:
        return ""
