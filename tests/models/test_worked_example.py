"""The first lesson's example, to three places, through the function a learner calls."""

import numpy as np
import pytest

import clearformer as cf

X = [[1, 0], [0, 1], [1, 1]]
W_Q = [[1, 0], [0, 2]]
W_K = [[1, 1], [0, 1]]
W_V = [[1, 0], [0, 1]]

WITHOUT_MASK = [[0.401, 0.198, 0.401], [0.164, 0.164, 0.673], [0.178, 0.088, 0.734]]
WITH_MASK = [[1, 0, 0], [0.5, 0.5, 0], [0.178, 0.088, 0.734]]

masked_or_not = pytest.mark.parametrize(
    ("causal", "expected"), [(False, WITHOUT_MASK), (True, WITH_MASK)], ids=["all", "causal"]
)


@masked_or_not
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_weights_are_those_of_the_lesson(causal, expected, dtype):
    given = (np.array(x, dtype) for x in (X, W_Q, W_K, W_V))
    output, weights = cf.self_attention(*given, causal=causal)
    assert weights.round(3).tolist() == np.array(expected, dtype).tolist()
    np.testing.assert_allclose(output, weights @ np.array(X, dtype) @ np.array(W_V), rtol=1e-6)
    assert output.dtype == weights.dtype == dtype


@masked_or_not
def test_whole_numbers_as_a_learner_types_them_give_the_same(causal, expected, unchecked):
    output, weights = cf.self_attention(*map(np.array, (X, W_Q, W_K, W_V)), causal=causal)
    assert weights.round(3).tolist() == expected
    np.testing.assert_allclose(output, weights @ np.array(X), rtol=1e-12)


def test_the_scores_are_divided_by_the_root_of_the_width():
    """Written with Python's own numbers, from the definition."""
    x, w_q, w_k, w_v = (np.array(each, float) for each in (X, W_Q, W_K, W_V))
    output, weights = cf.self_attention(x, w_q, w_k, w_v)
    for i, query in enumerate(x @ w_q):
        powers = [np.exp(sum(query * key) / 2**0.5) for key in x @ w_k]
        np.testing.assert_allclose(weights[i], np.array(powers) / sum(powers), rtol=1e-14)
        mean = sum(w * v for w, v in zip(weights[i], x @ w_v, strict=True))
        np.testing.assert_allclose(output[i], mean, rtol=1e-14)


@pytest.mark.parametrize("lead", [(), (1,), (3,), (2, 3), (0,)])
@pytest.mark.parametrize("causal", [False, True])
def test_leading_axes_are_so_many_sequences_by_themselves(lead, causal, rng):
    x = rng.normal(size=(*lead, 4, 3))
    matrices = rng.normal(size=(3, 3, 2))
    output, weights = cf.self_attention(x, *matrices, causal=causal)
    assert output.shape == (*lead, 4, 2)
    assert weights.shape == (*lead, 4, 4)
    for place in np.ndindex(*lead):
        alone = cf.self_attention(x[place], *matrices, causal=causal)
        np.testing.assert_allclose(output[place], alone[0], rtol=1e-12)
        np.testing.assert_allclose(weights[place], alone[1], rtol=1e-12)
