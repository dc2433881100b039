"""PyTorch for the tests that compare with it."""

from types import ModuleType

import pytest


@pytest.fixture
def torch() -> ModuleType:
    """PyTorch; a test that asks for it is skipped where it is not installed."""
    return pytest.importorskip("torch", reason="comparing with PyTorch needs PyTorch (extra torch)")
