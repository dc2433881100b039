"""The order is chosen by a part of the text that was not counted."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.ngram.best_order import best_order
from clearformer.models.ngram.fit import fit


def test_each_order_is_judged_as_a_model_of_that_order(rng):
    text = rng.integers(0, 4, 500).cumsum() % 5
    found = best_order(text, 5, most=4, held_out=0.2)
    assert found.held_out == 100
    alone = [fit(text[:400], 5, order).loss(text, 400) for order in range(1, 5)]
    assert found.losses == pytest.approx(alone, rel=1e-14)
    assert found.order == int(np.argmin(alone)) + 1


def test_the_order_grows_with_what_must_be_remembered(rng):
    """In 0 0 1 0 2 0 …, after 0 one must know what came before it; in noise, nothing."""
    assert best_order([0, 0, 1, 0, 2] * 200, 3, most=6).order > 2
    losses = best_order(rng.integers(0, 3, 20_000), 3).losses
    assert min(losses) > losses[0] - 1e-3


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("share", [0, 1, -0.1, 2, float("nan")])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(ConfigurationError, match="held-out"):
        best_order([0, 1, 0, 1], 2, held_out=share)


def test_a_text_too_short_to_hold_something_out_is_refused():
    with pytest.raises(ConfigurationError, match="2 tokens"):
        best_order([0], 2)
    assert best_order([0, 1], 2).held_out == 1
    with pytest.raises(ShapeError):
        best_order([0, 1, 2], 2)
    with pytest.raises(ConfigurationError):
        best_order([0, 1], 2, most=0)
