"""How often faults are injected: a few by default, all of them with `pytest -m long tests/faults`.

The counts are those of the reliability plan: for every change, and for a release.
"""

from typing import Any

import pytest

EVERY = 10**9
"""More than there are: every case in turn."""


def few_or_all(name: str, few: int, full: int = EVERY) -> Any:
    """Gives a test its count under `name`; the full one has the marker `long`."""
    shown = "all of them" if full == EVERY else f"{full} of them"
    many = pytest.param(full, marks=pytest.mark.long, id=shown)
    return pytest.mark.parametrize(name, [pytest.param(few, id=f"{few} of them"), many])
