"""PyTorch for the tests that compare with it."""

from importlib.util import find_spec
from types import ModuleType

import pytest


@pytest.fixture(scope="session", autouse=True)
def one_thread_of_pytorch() -> None:
    """Its threads wait for each other after each operation: for milliseconds on a busy machine."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)


@pytest.fixture
def torch() -> ModuleType:
    """PyTorch; a test that asks for it is skipped where it is not installed."""
    return pytest.importorskip("torch", reason="comparing with PyTorch needs PyTorch (extra torch)")
