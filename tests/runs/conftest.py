"""Whole runs take thousands of operations; checking the shapes of each would take minutes."""

import jaxtyping
import pytest

import clearformer as cf
from runs.tiny import DIALS, TEXT


@pytest.fixture(scope="package", autouse=True)
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def text_file(tmp_path):
    """A small text."""
    path = tmp_path / "tiny.txt"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.fixture
def run(tmp_path, text_file):
    """A run trained on it for a few steps."""
    return cf.train(text_file, out=tmp_path / "run", **DIALS)
