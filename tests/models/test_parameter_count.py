"""The number of parameters is known exactly before anything is allocated."""

import numpy as np
import pytest

from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from models.decoders import CHOICES, SIZES, VARIANTS, every_combination

pytestmark = pytest.mark.usefixtures("unchecked")  # hundreds of decoders; elsewhere one is checked


def test_it_is_that_of_the_decoder_in_every_combination():
    for choice in every_combination():
        configuration = ModelConfiguration(**SIZES, **choice)
        built = build_decoder(configuration, None)
        assert built.parameter_count() == configuration.parameter_count, choice


def test_it_is_that_of_the_decoder_where_the_hidden_width_follows_from_embed():
    sizes = {**SIZES, "hidden": None}
    for activation in CHOICES["activation"]:
        configuration = ModelConfiguration(**sizes, activation=activation)
        built = build_decoder(configuration, None)
        assert built.parameter_count() == configuration.parameter_count


def test_it_counts_every_number_of_the_parameters():
    built = build_decoder(VARIANTS["the classic recipe"], np.random.default_rng(0))
    assert built.parameter_count() == sum(array.size for array in built.parameters().values())


def test_it_is_exact_where_the_product_of_sizes_leaves_64_bits():
    huge = ModelConfiguration(2**40, layers=2**40, heads=1, embed=2**40, recipe="classic")
    assert huge.parameter_count > 2**64 * huge.layers
    assert huge.parameter_count % huge.embed == 0


def test_every_pair_of_choices_meets_in_the_variants_that_the_other_tests_use():
    seen = [
        {name: getattr(variant.completed, name) for name in CHOICES}
        for variant in VARIANTS.values()
    ]
    for choice in every_combination():
        items = list(choice.items())
        for first, second in zip(items, items[1:] + items[:1], strict=True):
            assert any(s[first[0]] == first[1] and s[second[0]] == second[1] for s in seen)
