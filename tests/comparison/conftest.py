import jaxtyping
import pytest


@pytest.fixture(scope="module")
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
