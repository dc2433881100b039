"""Looking up a row is a product with a one-hot row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import array_shapes, arrays

from clearformer import ops
from clearformer.errors import ShapeError
from engines.proofs import few_examples
from engines.runners import every_engine


@every_engine
@few_examples
@given(
    vocab=some.sampled_from([1, 5, 512, 513, 700]),
    fractions=arrays(np.float64, array_shapes(max_dims=3, max_side=6), elements=some.floats(0, 1)),
    dtype=some.sampled_from([np.int16, np.int32, np.int64]),
)
def test_value_and_gradient_are_those_of_a_product_with_one_hot_rows(by, vocab, fractions, dtype):
    ids = np.minimum(fractions * vocab, vocab - 1).astype(dtype)
    rng = np.random.default_rng(0)
    table, weights = rng.normal(size=(vocab, 3)), rng.normal(size=(*ids.shape, 3))
    value, (gradient,) = by.gradients(lambda table: ops.embed(ids, table), weights, table)
    one_hot = np.eye(vocab)[ids]
    np.testing.assert_array_equal(value, one_hot @ table)
    expected = one_hot.reshape(-1, vocab).T @ weights.reshape(-1, 3)
    np.testing.assert_allclose(gradient, expected, 1e-12, 1e-12)


@every_engine
@pytest.mark.parametrize("vocab", [4, 600])
def test_a_token_used_often_collects_the_gradient_of_every_use(by, vocab):
    ids = np.array([2, 2, 0, 2])
    weights = np.array([[1.0], [10.0], [100.0], [1000.0]])
    _, (gradient,) = by.gradients(
        lambda table: ops.embed(ids, table), weights, np.zeros((vocab, 1))
    )
    np.testing.assert_array_equal(gradient[:3, 0], [100, 0, 1011])
    assert not gradient[3:].any()


@every_engine
@pytest.mark.parametrize("vocab", [4, 600])
@pytest.mark.parametrize("side", ["below", "above"])
def test_an_id_outside_the_vocabulary_is_refused(by, vocab, side):
    """NumPy would count a negative one from the end."""
    stranger = -1 if side == "below" else vocab
    with pytest.raises(ShapeError, match=rf"ids must be 0 … {vocab - 1}; got .*{stranger}"):
        by.value(lambda table: ops.embed(np.array([0, stranger]), table), np.zeros((vocab, 2)))
