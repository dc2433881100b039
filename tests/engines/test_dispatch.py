"""The engine is read off the type of the tensors."""

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest

from clearformer.engines import numpy as numpy_engine
from clearformer.engines.dispatch import array_of, engine_of
from clearformer.engines.tape import Tape
from clearformer.errors import ShapeError


def test_arrays_and_recorded_tensors_belong_to_numpy():
    array = np.zeros(2)
    assert engine_of(array, Tape().watch(array)) is numpy_engine


def test_tensors_of_pytorch_belong_to_pytorch(torch: ModuleType):
    from clearformer.engines import torch as torch_engine

    for x in (torch.zeros(2), torch.nn.Parameter(torch.zeros(2))):
        assert engine_of(x) is torch_engine
        assert engine_of(np.zeros(2), x) is engine_of(x, np.zeros(2)) is torch_engine


@pytest.mark.parametrize("companion", [1.0, 2, True, None, np.float64(0.5)])
def test_numbers_and_what_is_left_out_go_with_any_engine(companion, torch: ModuleType):
    for x in (np.zeros(2), Tape().watch(np.zeros(2)), torch.zeros(2)):
        assert engine_of(x, companion) is engine_of(companion, x) is engine_of(x)


@pytest.mark.parametrize("stranger", [[1.0, 2.0], "text", (1,), np.float32(1)])
def test_anything_else_is_refused_by_name(stranger):
    with pytest.raises(ShapeError, match=type(stranger).__name__):
        engine_of(np.zeros(2), stranger)


@pytest.mark.parametrize("number", [1.0, 2, None])
def test_a_number_alone_belongs_to_no_engine(number):
    with pytest.raises(ShapeError, match=type(number).__name__):
        engine_of(number)


def test_tensors_of_two_engines_are_not_mixed(torch: ModuleType):
    """The gradient of one would be lost."""
    with pytest.raises(ShapeError, match="one engine"):
        engine_of(Tape().watch(np.zeros(2)), torch.zeros(2))


def test_kinds_of_arrays_belong_to_numpy(tmp_path):
    """Memory-mapped ones, say, are arrays too."""
    assert engine_of(np.memmap(tmp_path / "numbers", np.float32, "w+", shape=3)) is numpy_engine


def test_array_of_gives_the_numbers_whatever_holds_them(rng, torch: ModuleType):
    array = rng.normal(size=(2, 3))
    for x in (array, Tape().watch(array), torch.from_numpy(array).requires_grad_()):
        np.testing.assert_array_equal(array_of(x), array, strict=True)
        assert np.shares_memory(array_of(x), array)


def test_whoever_computes_with_numpy_never_loads_pytorch():
    code = """
import sys, numpy as np
from clearformer import ops
from clearformer.engines.dispatch import engine_of
ops.add(np.ones(2), 1.0), engine_of(np.ones(2), None)
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
