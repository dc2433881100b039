"""The engine is read off the type of the tensors."""

import numpy as np
import pytest

from clearformer.engines import numpy as numpy_engine
from clearformer.engines.dispatch import engine_of
from clearformer.engines.tape import Tape
from clearformer.errors import ShapeError


def test_arrays_and_recorded_tensors_belong_to_numpy():
    array = np.zeros(2)
    assert engine_of(array, Tape().watch(array)) is numpy_engine


@pytest.mark.parametrize("stranger", [[1.0, 2.0], 1.0, None, "text"])
def test_anything_else_is_refused_by_name(stranger):
    with pytest.raises(ShapeError, match=type(stranger).__name__):
        engine_of(np.zeros(2), stranger)
