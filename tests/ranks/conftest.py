"""Two starts of several processes, which most tests look at."""

import jaxtyping
import pytest

from ranks.plans import FOUR, TWO, gone_through, write_texts


@pytest.fixture(scope="package", autouse=True)
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """Where they do it."""
    folder = tmp_path_factory.mktemp("ranks")
    write_texts(folder)
    return folder


@pytest.fixture(scope="package")
def two_processes(folder):
    """Two processes that have gone through `plans.TWO`."""
    return gone_through(TWO, 2, folder)


@pytest.fixture(scope="package")
def two(two_processes):
    """For each of two ranks what came of it."""
    return two_processes[1]


@pytest.fixture(scope="package")
def four(folder, two):
    """For each of four ranks what came of `plans.FOUR`, after those two."""
    return gone_through(FOUR, 4, folder)[1]
