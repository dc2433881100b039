"""Heads that share keys and values do what heads with copies of them would do."""

from dataclasses import replace

import numpy as np
import pytest

from models.decoders import VARIANTS, both_recipes, random_decoder, random_ids


@both_recipes
@pytest.mark.parametrize("shared", [1, 2, 4])
def test_sharing_equals_copies_of_the_matrices(recipe, shared):
    configuration = replace(VARIANTS[f"the {recipe} recipe"], key_value_heads=shared)
    heads, width = configuration.heads, configuration.embed // configuration.heads
    sharing = random_decoder(configuration)
    parameters = sharing.parameters()

    def copied(name, _):
        p = parameters[name]
        if ".attention.key." not in name and ".attention.value." not in name:
            return p
        pieces = p.reshape(*p.shape[:-1], shared, width)
        return np.repeat(pieces, heads // shared, axis=-2).reshape(*p.shape[:-1], heads * width)

    full = random_decoder(replace(configuration, key_value_heads=heads)).with_parameters(copied)
    ids = random_ids(configuration, 2, 7)
    np.testing.assert_allclose(sharing(ids), full(ids), rtol=0, atol=1e-12)
    assert full.parameter_count() >= sharing.parameter_count()


@pytest.mark.parametrize("shared", [1, 2])
def test_neighbouring_heads_share(shared):
    """Changing the first key–value head changes the first heads' mix and no other's."""
    from clearformer.models.tap import Recorder

    configuration = replace(VARIANTS["the modern recipe"], key_value_heads=shared)
    heads, ids = configuration.heads, random_ids(configuration, 1, 5)
    model = random_decoder(configuration)

    def mixed(**edits):
        listener = Recorder(edits)
        model(ids, tap=listener)
        return listener.seen["blocks.0.attention.mixed"]

    def raised(value):
        value = value.copy()
        value[:, 0] += 1
        return value

    changed = (mixed(**{"blocks.0.attention.value": raised}) != mixed()).any((0, 2, 3))
    assert changed.tolist() == [head < heads // shared for head in range(heads)]
