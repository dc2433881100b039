"""What every test may ask for."""

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(0)
