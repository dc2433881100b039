"""Ways in and out of an engine: the same numbers on both sides."""

import numpy as np
import pytest

from clearformer.engines import numpy as numpy_engine
from clearformer.engines.dispatch import engine_of
from clearformer.engines.tape import Tape
from engines.layouts import LAYOUTS
from engines.runners import every_engine


@every_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_there_and_back_changes_nothing(by, dtype, shape, rng):
    array = np.asarray(rng.normal(size=shape), dtype)
    like = by.tensor(np.zeros((), dtype))
    engine = engine_of(like)
    found = engine.to_array(engine.from_array(array, like))
    np.testing.assert_array_equal(found, array, strict=True)


@every_engine
@pytest.mark.parametrize("layout", LAYOUTS)
def test_there_and_back_keeps_every_layout(by, layout, rng):
    array = layout(rng.normal(size=(3, 4)))
    like = by.tensor(np.zeros(1))
    engine = engine_of(like)
    np.testing.assert_array_equal(engine.to_array(engine.from_array(array, like)), array)


@every_engine
def test_fractions_take_the_type_of_what_they_go_with(by):
    like = by.tensor(np.zeros(1, np.float32))
    assert engine_of(like).from_array(np.ones(2), like).dtype == like.dtype


@every_engine
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.int32, np.int64])
def test_whole_numbers_and_truth_values_stay(by, dtype):
    array, like = np.array([0, 1], dtype), by.tensor(np.zeros(1))
    engine = engine_of(like)
    found = engine.to_array(engine.from_array(array, like))
    np.testing.assert_array_equal(found, array, strict=True)


@every_engine
def test_an_array_that_nobody_may_write_to_crosses_without_a_warning(by):
    array = np.ones(3)
    array.flags.writeable = False
    like = by.tensor(np.zeros(1))
    engine = engine_of(like)
    np.testing.assert_array_equal(engine.to_array(engine.from_array(array, like)), array)


@every_engine
def test_an_empty_tensor_is_like_another(by):
    like = by.tensor(np.zeros(1, np.float32))
    found = engine_of(like).empty((2, 3), like)
    assert tuple(found.shape) == (2, 3)
    assert found.dtype == like.dtype


def test_the_way_out_leaves_the_tape_behind():
    array = np.ones(3)
    assert numpy_engine.to_array(Tape().watch(array)) is array


def test_the_way_out_leaves_the_history_behind_and_shares_the_memory(torch):
    leaf = torch.ones(3, requires_grad=True)
    shared = engine_of(leaf).to_array(leaf)
    shared[0] = 7
    assert leaf.tolist() == [7, 1, 1]


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_types_of_16_bits_come_out_wider(name, torch):
    x = torch.tensor([1.0, -2.5], dtype=getattr(torch, name))
    found = engine_of(x).to_array(x)
    np.testing.assert_array_equal(found, np.array([1, -2.5], np.float32), strict=True)
    back = engine_of(x).from_array(found, x)
    assert back.dtype == x.dtype
    assert torch.equal(back, x)
