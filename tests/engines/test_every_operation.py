"""Laws that hold for every operation, in every case of `cases`."""

from types import ModuleType

import numpy as np
import pytest

from engines.cases import CASES, Case, public_operations
from engines.layouts import LAYOUTS
from engines.proofs import check_against_torch, check_gradient, weighted_gradients, weights_like

PROVED_APART = {"adamw"}  # works in place and has no gradient: test_adamw

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def test_every_operation_has_its_proofs():
    assert {case.operation for case in CASES} | PROVED_APART == set(public_operations())


def test_every_operation_meets_axes_of_size_one_and_zero():
    for size in (0, 1):
        met = {
            case.operation
            for case in CASES
            if any(size in shape for shape in case.operands.values())
            or any(size in np.shape(x) for x in case.constants.values())
        }
        assert met | PROVED_APART == set(public_operations()), f"axes of size {size}"


@every_case
def test_gradient_agrees_with_finite_differences(case: Case, rng):
    check_gradient(case.ours, *case.arrays(rng))


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_agree_with_torch(case: Case, dtype, rng, torch: ModuleType):
    gradient = 1e-12 if case.operation == "attention" else 1e-10
    check_against_torch(case.ours, case.theirs, *case.arrays(rng), dtype=dtype, gradient=gradient)


@every_case
def test_the_layout_in_memory_changes_nothing(case: Case, rng):
    arrays = case.arrays(rng)
    weights = weights_like(np.asarray(case.ours(*arrays)))
    expected = weighted_gradients(case.ours, weights, *arrays)
    for layout in LAYOUTS:
        found = weighted_gradients(case.ours, layout(weights), *map(layout, arrays))
        for mine, wanted in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
            np.testing.assert_allclose(mine, wanted, 1e-12, 1e-12, err_msg=layout.__name__)


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_recording_changes_nothing_and_types_and_shapes_stay(case: Case, dtype, rng):
    arrays = case.arrays(rng, dtype)
    value = case.ours(*arrays)
    assert type(value) is np.ndarray, "plain arrays are not recorded"
    assert value.dtype == dtype
    recorded, gradients = weighted_gradients(case.ours, weights_like(value), *arrays)
    np.testing.assert_array_equal(recorded, value, strict=True)
    for gradient, x in zip(gradients, arrays, strict=True):
        assert type(gradient) is np.ndarray
        assert (gradient.dtype, gradient.shape) == (x.dtype, x.shape)


@every_case
def test_inputs_are_left_as_they_were(case: Case, rng):
    arrays = case.arrays(rng)
    weights = weights_like(np.asarray(case.ours(*arrays)))
    given = [*arrays, weights, *(x for x in case.constants.values() if isinstance(x, np.ndarray))]
    before = [x.copy() for x in given]
    for x in arrays:
        x.flags.writeable = False  # so that even writing the same numbers back is refused
    weights.flags.writeable = False
    weighted_gradients(case.ours, weights, *arrays)
    for now, then in zip(given, before, strict=True):
        np.testing.assert_array_equal(now, then)
