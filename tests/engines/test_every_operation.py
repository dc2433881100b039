"""Laws that hold for every operation, in every case of `cases`, by every engine."""

from types import ModuleType

import numpy as np
import pytest

from clearformer.verification.case import Case, public_operations
from clearformer.verification.cases import CASES
from engines.layouts import LAYOUTS
from engines.proofs import check_against_torch, check_gradient, weights_like
from engines.runners import BY_NUMPY, every_engine, needs_torch
from engines.theirs import theirs

PROVED_APART = {"adamw", "orthogonalise"}  # have no gradient: tests of their own


def has_entries(case: Case) -> bool:
    """Whether there is something to move: of nothing, PyTorch cannot take differences."""
    return all(0 not in shape for shape in case.operands.values())


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


@pytest.mark.parametrize("case", [case for case in CASES if has_entries(case)], ids=str)
def test_gradient_of_the_pytorch_engine_agrees_with_finite_differences(
    case: Case, rng, torch: ModuleType
):
    def function(*tensors):
        result = case.ours(*tensors)
        return result.masked_fill(result.isneginf(), 0)  # -inf that stays -inf does not move

    leaves = [torch.tensor(x).requires_grad_() for x in case.arrays(rng)]
    assert torch.autograd.gradcheck(
        function, leaves, eps=1e-5, atol=1e-8, rtol=1e-6, fast_mode=True
    )


@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_agree_with_torch(case: Case, dtype, rng, torch: ModuleType):
    gradient = 1e-12 if case.operation == "attention" else 1e-10
    check_against_torch(case.ours, theirs(case), *case.arrays(rng), dtype=dtype, gradient=gradient)


@needs_torch
@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_engines_agree_in_value_and_gradient(case: Case, dtype, rng):
    check_against_torch(case.ours, case.ours, *case.arrays(rng), dtype=dtype)


@every_engine
@every_case
def test_the_layout_in_memory_changes_nothing(case: Case, by, rng):
    arrays = case.arrays(rng)
    weights = weights_like(by.value(case.ours, *arrays))
    expected = by.gradients(case.ours, weights, *arrays)
    for layout in LAYOUTS:
        found = by.gradients(case.ours, layout(weights), *map(layout, arrays))
        for mine, wanted in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
            np.testing.assert_allclose(mine, wanted, 1e-12, 1e-12, err_msg=layout.__name__)


@every_engine
@every_case
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_recording_changes_nothing_and_types_and_shapes_stay(case: Case, by, dtype, rng):
    arrays = case.arrays(rng, dtype)
    value = by.value(case.ours, *arrays)
    assert value.dtype == dtype
    recorded, gradients = by.gradients(case.ours, weights_like(value), *arrays)
    if by is BY_NUMPY:
        np.testing.assert_array_equal(recorded, value, strict=True)
    else:  # while PyTorch records it has other kernels and folds other axes; which, hangs on MKL
        bit = np.finfo(dtype).eps
        np.testing.assert_allclose(recorded, value, 16 * bit, 16 * bit, strict=True)
    for gradient, x in zip(gradients, arrays, strict=True):
        assert type(gradient) is np.ndarray
        assert (gradient.dtype, gradient.shape) == (x.dtype, x.shape)


@every_engine
@every_case
def test_inputs_are_left_as_they_were(case: Case, by, rng):
    arrays = case.arrays(rng)
    weights = weights_like(by.value(case.ours, *arrays))
    given = [*arrays, weights, *(x for x in case.constants.values() if isinstance(x, np.ndarray))]
    before = [x.copy() for x in given]
    if by is BY_NUMPY:  # PyTorch has no read-only tensors; it counts what is written instead
        for x in (*arrays, weights):
            x.flags.writeable = False  # so that even writing the same numbers back is refused
    by.gradients(case.ours, weights, *arrays)
    for now, then in zip(given, before, strict=True):
        np.testing.assert_array_equal(now, then)
