"""PyTorch for the tests that compare with it, and calls as a user makes them."""

import jaxtyping
import pytest

from engines.conftest import torch

__all__ = ["torch", "unchecked"]


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the checks of types and axes, which exist under pytest only: as a user runs it."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
