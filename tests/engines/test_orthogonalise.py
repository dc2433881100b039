"""Laws of orthogonalising, by every engine."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.dispatch import engine_of
from clearformer.engines.polar import AT_LAST, COEFFICIENTS, MOST_STEPS, STEPS
from clearformer.engines.tape import Tape
from clearformer.errors import ConfigurationError, ShapeError
from clearformer.verification.orthogonal import by_the_book
from engines.polar import polar_express
from engines.runners import BY_NUMPY, BY_PYTORCH, ByNumPy, ByPyTorch, every_engine, needs_torch

SHAPES = [(16, 16), (12, 40), (40, 12), (3, 8, 8), (2, 2, 5, 9), (1, 6), (6, 1), (1, 1)]

LARGEST_ERROR = {1: 0.9191, 2: 0.7073, 3: 0.2695, 4: 0.0126}
"""|1 - σ| after so many steps, wherever σ was at least 0.01 of the largest."""

every_shape = pytest.mark.parametrize("shape", SHAPES, ids=str)


def orthogonal(by: ByNumPy | ByPyTorch, x: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """What the operation makes of an array."""
    return by.value(lambda matrices: ops.orthogonalise(matrices, steps), x)


def singular_values(x: np.ndarray) -> np.ndarray:
    return np.linalg.svd(x.astype(np.float64), compute_uv=False)


def with_values(rng: np.random.Generator, shape: tuple[int, int], values: np.ndarray) -> np.ndarray:
    """A random matrix with these singular values."""
    left, _, right = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    return (left * values) @ right


@every_engine
@every_shape
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 7])
def test_it_does_to_singular_values_what_the_polynomials_do(by, shape, steps, rng):
    x = rng.normal(size=shape)
    np.testing.assert_allclose(orthogonal(by, x, steps), by_the_book(x, steps), 0, 1e-11)


@every_engine
@pytest.mark.parametrize("shape", [(24, 24), (16, 60), (60, 16)], ids=str)
@pytest.mark.parametrize("steps", LARGEST_ERROR)
def test_singular_values_end_close_to_one(by, shape, steps, rng):
    x = with_values(rng, shape, np.geomspace(0.02, 1, min(shape)))
    found = singular_values(orthogonal(by, x, steps))
    assert np.abs(found - 1).max() <= LARGEST_ERROR[steps]


@every_engine
@every_shape
def test_many_steps_give_the_nearest_orthogonal_matrix(by, shape, rng):
    left, _, right = np.linalg.svd(x := rng.normal(size=shape), full_matrices=False)
    np.testing.assert_allclose(orthogonal(by, x, 16), left @ right, 0, 1e-9)


@every_engine
@every_shape
def test_the_transpose_of_a_matrix_gives_the_transpose(by, shape, rng):
    x = rng.normal(size=shape)
    turned = orthogonal(by, x.swapaxes(-1, -2))
    np.testing.assert_allclose(turned, orthogonal(by, x).swapaxes(-1, -2), 0, 1e-12)


@every_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_size_of_a_matrix_does_not_matter(by, dtype, rng):
    for shape in SHAPES:
        x = rng.normal(size=shape).astype(dtype)
        expected = orthogonal(by, x)
        assert expected.dtype == dtype
        for size in (1e-12, 1e-3, 1e8):
            found = orthogonal(by, x * dtype(size))
            np.testing.assert_allclose(found, expected, 0, 2e-4 if dtype is np.float32 else 1e-11)


@every_engine
@pytest.mark.parametrize("shape", [(5, 5), (3, 8), (8, 3), (2, 0, 4), (0, 4, 4)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_gives_nothing(by, shape, dtype):
    zero = np.zeros(shape, dtype)
    for steps in (1, STEPS, MOST_STEPS):
        np.testing.assert_array_equal(orthogonal(by, zero, steps), zero)


@every_engine
def test_each_matrix_of_a_stack_is_for_itself(by, rng):
    for shape in ((6, 6), (4, 9), (9, 4)):
        stack = rng.normal(size=(3, *shape)) * np.array([1e-3, 1, 1e3])[:, None, None]
        expected = np.stack([orthogonal(by, x) for x in stack])
        np.testing.assert_allclose(orthogonal(by, stack), expected, 0, 1e-12)


@every_engine
@pytest.mark.parametrize("shape", [(32, 32), (32, 96), (96, 32)], ids=str)
@pytest.mark.parametrize("least", [1e-2, 1e-4, 1e-7, 0.0])
def test_float32_is_enough_for_matrices_that_are_nearly_singular(by, shape, least, rng):
    """Their Gram matrix has the square of their condition."""
    x = with_values(rng, shape, np.append(np.geomspace(1e-2, 1, 31), least))
    found = orthogonal(by, x.astype(np.float32))
    assert np.abs(found - by_the_book(x, STEPS)).max() < 1e-4
    assert singular_values(found).max() < 1 + LARGEST_ERROR[STEPS] + 1e-3


@every_engine
@pytest.mark.parametrize("shape", [(32, 32), (32, 96)], ids=str)
def test_many_steps_in_float32_stay_bounded(by, shape, rng):
    """Whatever rounding has made of the smallest singular values, none grows beyond all bounds."""
    x = with_values(rng, shape, np.geomspace(1e-5, 1, 32)).astype(np.float32)
    for steps in (6, 10, 30):
        assert singular_values(orthogonal(by, x, steps)).max() < 1.1


@every_engine
def test_what_it_is_given_stays_as_it_was(by, rng):
    for shape in SHAPES:
        x = rng.normal(size=shape)
        before = x.copy()
        found = orthogonal(by, x)
        np.testing.assert_array_equal(x, before)
        found += 1
        np.testing.assert_array_equal(x, before)


@every_engine
def test_views_of_a_larger_buffer_give_the_same(by, rng):
    buffer = rng.normal(size=(3, 10, 12))
    for view in (buffer[1, 2:7, 3:8], buffer[:, :4, ::2], buffer.swapaxes(0, 1)):
        expected = orthogonal(by, view.copy())
        np.testing.assert_allclose(orthogonal(by, view), expected, 0, 1e-12)


@needs_torch
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_shape
def test_engines_agree(shape, dtype, rng):
    x = rng.normal(size=shape).astype(dtype)
    for steps in (1, 3, 5):
        ours, theirs = (orthogonal(by, x, steps) for by in (BY_NUMPY, BY_PYTORCH))
        bound = 1e-12 if dtype is np.float64 else 3e-4
        np.testing.assert_allclose(theirs, ours, 0, bound)


def test_it_is_not_recorded(torch, rng):
    x = torch.tensor(rng.normal(size=(4, 4)), requires_grad=True)
    assert ops.orthogonalise(x).grad_fn is None
    taped = Tape().watch(rng.normal(size=(4, 4)))
    with pytest.raises(ShapeError, match="has no gradient"):
        engine_of(taped).orthogonalise(taped)


@every_engine
@pytest.mark.parametrize("steps", [0, -1, MOST_STEPS + 1])
def test_a_number_of_steps_that_cannot_be_is_refused(by, steps, rng):
    with pytest.raises(ConfigurationError, match=f"between 1 and {MOST_STEPS}; got {steps}"):
        orthogonal(by, rng.normal(size=(3, 3)), steps)


@every_engine
def test_a_vector_is_refused(by, rng):
    x = by.tensor(rng.normal(size=5))
    with pytest.raises(ShapeError, match="rows, columns"):
        engine_of(x).orthogonalise(x)


def test_the_coefficients_are_the_best_there_are():
    found = polar_express(0.01, len(COEFFICIENTS))
    np.testing.assert_allclose(COEFFICIENTS, found, 0, 1e-9)
    np.testing.assert_allclose(polar_express(0.01, 9)[-1], AT_LAST, 0, 1e-5)
    least, most = 0.01, 1.0
    for step, (a, b, c) in enumerate(COEFFICIENTS, start=1):
        values = np.linspace(least, most, 100_001)
        after = a * values + b * values**3 + c * values**5
        least, most = after.min(), after.max()
        assert max(1 - least, most - 1) <= LARGEST_ERROR[step]
