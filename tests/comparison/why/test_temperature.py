from dataclasses import replace
from math import log

import numpy as np
import pytest

from clearformer.comparison.why.temperature import Temperature, temperature_of
from clearformer.comparison.why.windows import windows_of
from clearformer.generation.sampling import Sampling, probabilities
from clearformer.training.next_token import next_token_loss
from comparison.why.tiny import tiny


@pytest.fixture(scope="module")
def found():
    return temperature_of(tiny(), temperatures=(0.2, 0.5, 1.0, 2.0), windows=3, written=20)


def test_entropy_is_that_of_what_is_drawn_from(found):
    entrant = tiny()
    ids = windows_of(entrant.held_out, entrant.configuration.context + 1, 3)
    for heat, entropy in zip(found.temperatures, found.entropy, strict=True):
        shares = [
            probabilities(scores, Sampling(heat))
            for row in entrant.model(ids[:, :-1])
            for scores in row
        ]
        expected = np.mean([-(p[p > 0] * np.log2(p[p > 0])).sum() for p in shares])
        assert entropy == pytest.approx(expected, rel=1e-4)


def test_the_loss_at_one_is_the_loss_of_the_model(found):
    entrant = tiny()
    ids = windows_of(entrant.held_out, entrant.configuration.context + 1, 3)
    loss = float(next_token_loss(entrant.model, ids[:, :-1], ids[:, 1:]))
    assert found.loss[2] == pytest.approx(loss / log(2), rel=1e-4)


def test_entropy_grows_with_temperature_and_never_beyond_a_fair_die(found):
    assert list(found.entropy) == sorted(found.entropy)
    assert found.entropy[-1] < np.log2(tiny().configuration.vocabulary)


def test_samples_are_the_same_again(found):
    again = temperature_of(tiny(), temperatures=(0.2, 0.5, 1.0, 2.0), windows=3, written=20)
    assert again == found
    assert all(len(text) == 20 for text in found.samples)
    assert found.prompt


def test_where_there_is_no_text_there_is_none_to_write():
    assert temperature_of(replace(tiny(), tokenizer=None)) is None


def test_it_comes_back_from_json(found):
    assert Temperature.from_json(found.to_json()) == found
