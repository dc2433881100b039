"""Sides to verify, run as a user runs them."""

from collections.abc import Callable, Iterator
from types import ModuleType

import jaxtyping
import pytest

from clearformer.verification.sides import Side


@pytest.fixture(scope="package", autouse=True)
def unchecked() -> Iterator[None]:
    """Without the checks of types and axes, which exist under pytest only."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def torch() -> ModuleType:
    """PyTorch on one thread: with arrays this small, a second one costs more than it brings."""
    module = pytest.importorskip("torch", reason="verifying PyTorch needs PyTorch (extra torch)")
    module.set_num_threads(1)
    return module


@pytest.fixture
def engine(torch: ModuleType) -> ModuleType:
    """The PyTorch engine, whose operations a test may break."""
    from clearformer.engines import torch as torch_engine

    return torch_engine


@pytest.fixture
def side(torch: ModuleType) -> Callable[[str], Side]:
    """PyTorch on the processor, in a type of number."""
    return lambda dtype: Side("torch", "cpu", dtype)
