"""Added waves follow their formula; turned queries and keys know their distance only."""

from math import cos, sin

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ShapeError
from clearformer.models.cache import KeyValueCache
from clearformer.models.positions import NothingAdded, RotaryPositions, SinusoidalPositions
from clearformer.models.tap import silent
from models.decoders import SIZES, both_recipes, random_decoder


@pytest.mark.parametrize("embed", [1, 2, 7, 8])
def test_the_table_follows_the_formula(embed):
    table = cf.sinusoidal_positions(20, embed)
    assert table.shape == (20, embed)
    for p in range(20):
        for i in range(embed):
            angle = p / 10_000 ** ((i - i % 2) / embed)
            assert table[p, i] == pytest.approx([sin(angle), cos(angle)][i % 2], abs=1e-14)


def test_the_table_of_the_first_lesson():
    table = cf.sinusoidal_positions(20, 8)
    assert table[0].tolist() == [0, 1] * 4
    assert table[1, :4].round(4).tolist() == [0.8415, 0.5403, 0.0998, 0.995]


def test_a_float32_table_is_the_rounded_one():
    table = cf.sinusoidal_positions(9, 6, "float32")
    assert table.dtype == np.float32
    assert (table == cf.sinusoidal_positions(9, 6).astype(np.float32)).all()


@pytest.mark.parametrize("start", [0, 1, 5])
def test_waves_are_added_from_the_start_on(start, rng):
    x = rng.normal(size=(2, 4, 6))
    added = SinusoidalPositions(9)(x, start, silent)
    table = cf.sinusoidal_positions(9, 6)[start : start + 4]
    np.testing.assert_allclose(added, x + table, rtol=1e-12)


def test_where_nothing_is_added_x_goes_on(rng):
    x = rng.normal(size=(2, 4, 6))
    assert NothingAdded()(x, 0, silent) is x


def test_a_turned_product_depends_on_the_distance_only(rng):
    query, key = rng.normal(size=(2, 6))
    queries, keys = (RotaryPositions(12)(np.tile(x, (12, 1)), 0) for x in (query, key))
    products = queries @ keys.T
    distances = {}
    for p in range(12):
        for q in range(12):
            expected = distances.setdefault(p - q, products[p, q])
            assert products[p, q] == pytest.approx(expected, abs=1e-12)
    assert distances[0] == pytest.approx(query @ key, abs=1e-12)
    assert len({round(product, 6) for product in distances.values()}) == 23


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_turning_keeps_the_length_of_each_pair(dtype, rng):
    x = rng.normal(size=(2, 3, 50, 8)).astype(dtype)
    turned = RotaryPositions(64)(x, 10)
    before, after = (np.hypot(each[..., 0::2], each[..., 1::2]) for each in (x, turned))
    np.testing.assert_allclose(after, before, rtol=1e-6 if dtype == np.float32 else 1e-13)
    assert abs(turned - x).max() > 0.5
    assert turned.dtype == dtype


def test_the_jth_pair_turns_by_p_over_a_power_of_ten_thousand(rng):
    x = rng.normal(size=(7, 6))
    turned = RotaryPositions(7)(x, 0)
    for p in range(7):
        for j in range(3):
            angle = p / 10_000 ** (2 * j / 6)
            a, b = x[p, 2 * j], x[p, 2 * j + 1]
            assert turned[p, 2 * j] == pytest.approx(a * cos(angle) - b * sin(angle), abs=1e-14)
            assert turned[p, 2 * j + 1] == pytest.approx(a * sin(angle) + b * cos(angle), abs=1e-14)


@pytest.mark.parametrize("start", [1, 4])
def test_turning_from_a_start_is_a_part_of_turning_all(start, rng):
    x = rng.normal(size=(2, 9, 4))
    whole = RotaryPositions(9)(x, 0)
    assert (RotaryPositions(9)(x[:, start:], start) == whole[:, start:]).all()


@both_recipes
@pytest.mark.parametrize("context", [1, 2, 8])
@pytest.mark.parametrize("started", [False, True], ids=["at once", "after a cache"])
def test_a_sequence_longer_than_the_context_is_refused(recipe, context, started, unchecked):
    """In one line with both numbers; never with the positions of other tokens."""
    configuration = cf.ModelConfiguration(**{**SIZES, "context": context}, recipe=recipe)
    model = random_decoder(configuration)
    cache, ids = None, np.zeros((1, context + 2), int)
    if started:
        cache, ids = KeyValueCache(configuration.layers, context), ids[:, 1:]
        model(np.zeros((1, 1), int), cache=cache)
    with pytest.raises(ShapeError) as caught:
        model(ids, cache=cache)
    assert "\n" not in str(caught.value)
    assert str(context) in str(caught.value) and str(context + 2) in str(caught.value)
