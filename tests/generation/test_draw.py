"""Drawing: as often as the probabilities say, and never what has none."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.generation.sampling import Sampling, draw, probabilities


class Fixed(np.random.Generator):
    """Always draws the same number."""

    def __init__(self, number):
        super().__init__(np.random.PCG64(0))
        self.number = number

    def random(self, *given, **named):
        return self.number


ALMOST_ONE = float(np.nextafter(1, 0))  # the largest number that a generator can draw


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_token_without_probability_is_never_drawn(dtype, rng):
    """Not even by a draw that falls on the border between two tokens, or on an end."""
    logits = rng.normal(size=12).astype(dtype)
    logits[[0, 1, 5, 6, 11]] = -np.inf
    for sampling in (Sampling(1.0), Sampling(1.0, top_k=3), Sampling(1.0, top_p=0.6)):
        share = probabilities(logits, sampling).astype(np.float64)
        borders = np.cumsum(share)
        tries = {0.0, ALMOST_ONE, 5e-324}
        for border in borders:
            tries |= {border, np.nextafter(border, 0), np.nextafter(border, 1)}
        for number in tries:
            if 0 <= number < 1:
                assert share[draw(logits, sampling, Fixed(number))] > 0


def test_every_token_with_probability_can_be_drawn(rng):
    logits = rng.normal(size=6)
    borders = np.cumsum(probabilities(logits, Sampling(1.0)))
    middles = (borders + np.concatenate([[0], borders[:-1]])) / 2
    assert [draw(logits, Sampling(1.0), Fixed(middle)) for middle in middles] == list(range(6))


@pytest.mark.parametrize(
    "sampling", [Sampling(1.0), Sampling(0.5), Sampling(2.0, top_k=4), Sampling(1.0, top_p=0.8)]
)
def test_tokens_come_as_often_as_they_should(sampling, rng, unchecked):
    logits, number = 2 * rng.normal(size=8), 4000
    share = probabilities(logits, sampling)
    drawn = np.bincount([draw(logits, sampling, rng) for _ in range(number)], minlength=8)
    deviation = np.sqrt(share * (1 - share) / number)
    assert (abs(drawn / number - share) <= 5 * deviation).all()


@pytest.mark.parametrize("logits", [np.zeros(1), np.array([-3e38], np.float32)])
def test_the_only_token_is_drawn(logits, rng):
    for sampling in (Sampling(1.0), Sampling(0.0), Sampling(0.3, top_k=1, top_p=0.1)):
        assert draw(logits, sampling, rng) == 0


def test_a_draw_is_a_whole_number_of_python(rng):
    for temperature in (0.0, 1.0):
        assert type(cf.sample(rng.normal(size=4), temperature=temperature)) is int


def test_without_a_generator_the_luck_is_new_each_time(rng):
    logits = np.zeros(1_000_000)
    assert cf.sample(logits) != cf.sample(logits)
    one, again = (cf.sample(logits, rng=np.random.default_rng(3)) for _ in range(2))
    assert one == again


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_whole_numbers_and_lists_are_logits_too(temperature, unchecked):
    wanted = cf.sample(np.array([1.0, 3.0, 2.0]), temperature=temperature, rng=Fixed(0.7))
    for logits in (np.array([1, 3, 2]), [1, 3, 2], [1.0, 3.0, 2.0]):
        assert cf.sample(logits, temperature=temperature, rng=Fixed(0.7)) == wanted


@pytest.mark.parametrize("temperature", [1e-5, 1e-20, 1e-300])
def test_half_precision_stands_any_temperature(temperature):
    logits = np.array([1, 2, 3], np.float16)
    assert cf.sample(logits, temperature=temperature) == 2


@pytest.mark.parametrize("vocabulary", [255, 256, 257, 700, 1024])
def test_a_large_vocabulary_is_drawn_from_as_a_small_one_is(vocabulary, rng):
    """Its probabilities are added up in blocks; some blocks have none."""
    logits = 3 * rng.normal(size=vocabulary)
    logits[rng.random(vocabulary) < 0.3] = -np.inf
    logits[256:512] = -np.inf
    share = probabilities(logits, Sampling(1.0))
    borders = np.cumsum(share)
    expected = np.flatnonzero(share)
    middles = (borders - share / 2)[expected]
    assert [draw(logits, Sampling(1.0), Fixed(middle)) for middle in middles] == expected.tolist()
    for number in (0.0, 5e-324, ALMOST_ONE, *borders[borders < 1]):
        assert share[draw(logits, Sampling(1.0), Fixed(number))] > 0


@pytest.mark.parametrize("top_p", [1e-9, 0.3, 0.9, 0.999, ALMOST_ONE])
def test_the_nucleus_is_that_of_sorting_everything(top_p, rng):
    logits = np.round(2 * rng.normal(size=900))  # many are alike: the first of them come first
    share = probabilities(logits, Sampling(1.0))
    order = np.argsort(-share, kind="stable")
    before = np.cumsum(share[order]) - share[order]
    kept = np.sort(order[before < top_p - 1e-12])
    assert np.flatnonzero(probabilities(logits, Sampling(1.0, top_p=top_p))).tolist() == list(kept)
