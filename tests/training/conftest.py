"""Whole runs take thousands of operations; checking the shapes of each would take minutes."""

import jaxtyping
import pytest


@pytest.fixture(scope="package", autouse=True)
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def checked_shapes():
    """But in a test that asks for this they are checked."""
    jaxtyping.config.update("jaxtyping_disable", False)
    yield
    jaxtyping.config.update("jaxtyping_disable", True)
