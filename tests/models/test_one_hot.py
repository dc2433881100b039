"""One-hot rows times a table, and looking up in it: the same product."""

import numpy as np
import pytest

import clearformer as cf
from clearformer import ops
from clearformer.errors import ShapeError
from engines.runners import every_engine


def test_each_row_is_zero_but_for_a_one_at_its_id():
    np.testing.assert_array_equal(
        cf.one_hot(np.array([2, 0]), 3), np.array([[0, 0, 1], [1, 0, 0]], np.float32), strict=True
    )


@every_engine
@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (1, 1)])
def test_the_product_is_the_lookup_in_value_and_gradient(by, rng, shape):
    ids = rng.integers(0, 5, shape)
    table, weights = rng.normal(size=(5, 3)), rng.normal(size=(*shape, 3))
    rows = cf.one_hot(ids, 5, np.float64)
    product, (slope,) = by.gradients(lambda table: ops.linear(rows, table), weights, table)
    lookup, (slope_of_lookup,) = by.gradients(lambda t: ops.embed(ids, t), weights, table)
    np.testing.assert_array_equal(product, lookup)
    np.testing.assert_allclose(slope, slope_of_lookup, 1e-14, 1e-14)


@pytest.mark.parametrize("stranger", [-1, 3])
def test_an_id_outside_the_vocabulary_is_refused(stranger):
    with pytest.raises(ShapeError, match=r"ids must be 0 … 2; got"):
        cf.one_hot(np.array([0, stranger]), 3)
