"""PyTorch for the tests that compare with it, and calls as a user makes them."""

from types import ModuleType

import jaxtyping
import pytest

from engines.conftest import one_thread_of_pytorch

__all__ = ["one_thread_of_pytorch", "torch", "unchecked"]


@pytest.fixture
def torch() -> ModuleType:
    """PyTorch on one thread: with arrays this small, a second one costs more than it brings."""
    module = pytest.importorskip("torch", reason="comparing with PyTorch needs it (extra torch)")
    module.set_num_threads(1)
    return module


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the checks of types and axes, which exist under pytest only: as a user runs it."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
