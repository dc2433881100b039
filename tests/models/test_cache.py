"""A sequence given in pieces, with a cache, gives the logits of the whole."""

import numpy as np
import pytest

from clearformer.models.cache import KeyValueCache
from clearformer.models.tap import Recorder
from models.decoders import VARIANTS, both_recipes, every_variant, random_decoder, random_ids

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

CUTS = [[1] * 8, [3, 5], [8], [5, 1, 2], [1, 6, 1]]


def in_pieces(model, ids, lengths, cache, **options):
    parts, start = [], 0
    for length in lengths:
        parts.append(model(ids[:, start : start + length], cache=cache, **options))
        start += length
        assert cache.length == start
    return np.concatenate(parts, axis=1)


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_pieces_give_what_the_whole_gives(configuration, dtype, tolerance):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 2, 8)
    whole = model(ids)
    for lengths in CUTS:
        cache = KeyValueCache(configuration.layers, configuration.context)
        found = in_pieces(model, ids, lengths, cache)
        np.testing.assert_allclose(found, whole, rtol=0, atol=tolerance)


@both_recipes
def test_a_cleared_cache_is_as_good_as_a_new_one(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration)
    cache = KeyValueCache(configuration.layers, configuration.context)
    first, second = random_ids(configuration, 2, 1, 8)
    in_pieces(model, first, [5, 3], cache)
    cache.clear()
    assert cache.length == 0
    found = in_pieces(model, second, [2, 6], cache)
    np.testing.assert_allclose(found, model(second), rtol=0, atol=1e-12)


@both_recipes
def test_listening_with_a_cache_changes_nothing(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model, ids = random_decoder(configuration), random_ids(configuration, 2, 8)
    for lengths in CUTS:
        cache = KeyValueCache(configuration.layers, configuration.context)
        found = in_pieces(model, ids, lengths, cache, tap=Recorder())
        np.testing.assert_allclose(found, model(ids), rtol=0, atol=1e-12)


@both_recipes
def test_a_cache_goes_on_with_some_of_its_sequences(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model, ids = random_decoder(configuration), random_ids(configuration, 3, 8)
    cache, rows = KeyValueCache(configuration.layers, configuration.context), np.array([2, 0, 2])
    model(ids[:, :5], cache=cache)
    cache.take(rows)
    found = model(ids[rows, 5:], cache=cache)
    np.testing.assert_allclose(found, model(ids[rows])[:, 5:], rtol=0, atol=1e-12)
