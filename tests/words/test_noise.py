"""What is drawn follows the laws of the paper."""

import numpy as np
import pytest

from clearformer.words.noise import Noise, kept_shares, noise_shares

COUNTS = np.array([1000, 300, 100, 20, 5, 1])


def test_noise_has_the_counts_to_the_power_of_three_quarters(rng):
    shares = noise_shares(COUNTS)
    np.testing.assert_allclose(shares, COUNTS**0.75 / (COUNTS**0.75).sum(), 1e-14)
    draws = 200_000
    found = np.bincount(Noise(shares).draw(rng, (draws // 100, 100)).ravel(), minlength=6)
    expected = draws * shares
    chi_square = ((found - expected) ** 2 / expected).sum()
    assert chi_square < 20.5, "five degrees of freedom: one chance in a thousand"


def test_draws_stay_inside_the_vocabulary_at_both_ends():
    class Ends(np.random.Generator):
        def random(self, *_):
            return np.array([0.0, np.nextafter(1.0, 0.0)])

    assert Noise(noise_shares(COUNTS)).draw(Ends(np.random.PCG64(0)), (2,)).tolist() == [0, 5]


def test_a_frequent_word_is_kept_by_the_root_of_threshold_over_share():
    """Equation 5: discarded with 1 - √(t/f), and never where f is below t."""
    shares = COUNTS / COUNTS.sum()
    kept = kept_shares(COUNTS, 0.01)
    np.testing.assert_allclose(kept, np.minimum(1, np.sqrt(0.01 / shares)), 1e-14)
    assert kept[0] < kept[1] < 1
    assert kept[-1] == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_draws_the_same(seed):
    noise = Noise(noise_shares(COUNTS))
    first, second = (noise.draw(np.random.default_rng(seed), (50,)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
