"""Dropout keeps the expected value, and does nothing outside training."""

from dataclasses import replace

import numpy as np
import pytest

from clearformer.models.dropout import Dropout
from models.decoders import VARIANTS, both_recipes, random_decoder, random_ids


def luck(seed=3):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_expected_value_stays(rate):
    x = np.ones((400, 400))
    dropped = Dropout(rate)(x, luck())
    deviation = np.sqrt(rate / (1 - rate) / x.size)
    assert abs(dropped.mean() - 1) < 5 * deviation
    assert abs((dropped == 0).mean() - rate) < 5 * np.sqrt(rate * (1 - rate) / x.size)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_is_dropped_or_stretched(dtype, rng):
    x = rng.normal(size=(50, 50)).astype(dtype)
    dropped = Dropout(0.25)(x, luck())
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], x[kept] / 0.75, rtol=1e-6)
    assert 0.5 < kept.mean() < 0.9
    assert dropped.dtype == dtype


@pytest.mark.parametrize(("rate", "generator"), [(0.5, None), (0.0, luck())])
def test_without_luck_or_without_a_rate_nothing_happens(rate, generator, rng):
    x = rng.normal(size=(3, 4))
    assert Dropout(rate)(x, generator) is x


@both_recipes
def test_a_decoder_drops_nothing_outside_training(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    ids = random_ids(configuration, 2, 5)
    usual, dropping = (random_decoder(replace(configuration, dropout=rate)) for rate in (0.0, 0.5))
    assert (dropping(ids) == usual(ids)).all()
    assert (usual(ids, rng=luck()) == usual(ids)).all()
    assert (dropping(ids, rng=luck()) != usual(ids)).any()


@both_recipes
def test_the_same_luck_drops_the_same(recipe):
    configuration = replace(VARIANTS[f"the {recipe} recipe"], dropout=0.3)
    model, ids = random_decoder(configuration), random_ids(configuration, 2, 5)
    assert (model(ids, rng=luck(5)) == model(ids, rng=luck(5))).all()
    assert (model(ids, rng=luck(5)) != model(ids, rng=luck(6))).any()


class Counting(np.random.Generator):
    """Notes the shape of each drawing."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.shapes = []

    def random(self, size=None, *rest, **named):
        self.shapes.append(size)
        return super().random(size, *rest, **named)


@both_recipes
def test_the_embedding_and_every_sublayer_drop(recipe):
    configuration = replace(VARIANTS[f"the {recipe} recipe"], dropout=0.3)
    counting = Counting()
    random_decoder(configuration)(random_ids(configuration, 2, 5), rng=counting)
    stream = (2, 5, configuration.embed)
    assert counting.shapes == [stream] * (1 + 2 * configuration.layers)
