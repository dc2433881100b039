"""Laws of text of a Markov source as a task."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks.markov import MarkovText
from clearformer.tasks.task import IGNORED


@pytest.mark.parametrize("order", [1, 2, 3])
def test_each_target_is_the_next_symbol_once_all_it_depends_on_was_seen(order, rng):
    task = MarkovText(order=order, symbols=4, length=20)
    inputs, targets = task.draw(rng, 30)
    assert inputs.shape == targets.shape == (30, 20)
    assert (targets[:, : order - 1] == IGNORED).all()
    asked = targets[:, order - 1 : -1]
    np.testing.assert_array_equal(asked, inputs[:, order:])
    assert inputs.max() < len(task.vocabulary) == 4


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_one_who_knows_the_source_has_the_best_loss(order, part, rng):
    task = MarkovText(order=order, symbols=3, length=32)
    inputs, targets = task.draw(rng, 600, part)
    places = np.arange(order - 1, task.length)
    context = sum(inputs[:, places - n] * 3**n for n in range(order))
    loss = -np.log(task.source.table[context, targets[:, places]]).mean()
    assert loss == pytest.approx(task.best, rel=0.04)


def test_another_seed_is_another_source():
    assert MarkovText().best == MarkovText().best
    assert MarkovText().best != MarkovText(source_seed=1).best


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"order": 0}, "order must be a whole number from 1 to 5"),
        ({"symbols": 1}, "symbols must be"),
        ({"length": 8}, "length must be a whole number from 16"),
        ({"order": 5, "symbols": 26}, "at most"),
    ],
)
def test_what_cannot_be_is_refused(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        MarkovText(**settings)
