"""Sizes of an encoder: counted exactly, checked, kept."""

import json
from dataclasses import replace

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.encoder.build import build_encoder
from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.models.kinds import kind_named
from models.encoder.encoders import MODERN, every_variant


@every_variant
def test_the_parameters_are_counted_exactly(configuration):
    for generator in (None, np.random.default_rng(0)):
        assert build_encoder(configuration, generator).parameter_count() == (
            configuration.parameter_count
        )


def test_the_mask_is_the_first_id_beyond_the_vocabulary_and_has_a_row():
    table = build_encoder(MODERN, None).embedding.table
    assert MODERN.mask == MODERN.vocabulary
    assert len(table) == MODERN.vocabulary + 1


def test_the_same_generator_gives_the_same_weights():
    one, other = (build_encoder(MODERN, np.random.default_rng(3)).parameters() for _ in range(2))
    assert all((one[name] == other[name]).all() for name in one)


def test_a_configuration_comes_back_from_json():
    document = json.loads(json.dumps(replace(MODERN, masked=0.3).to_json()))
    assert EncoderConfiguration.from_json(document) == replace(MODERN, masked=0.3).completed


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("share", [0, -0.1, 1.1, float("nan"), True, "much", None])
def test_a_share_that_cannot_be_is_refused(share):
    with pytest.raises(ConfigurationError, match=r"masked must be above 0 and at most 1; got"):
        replace(MODERN, masked=share)


@pytest.mark.parametrize(
    ("share", "context", "predicted", "passes"),
    [(0.15, 64, 10, 7), (0.15, 2, 1, 7), (0.2, 50, 10, 5), (0.1, 50, 5, 10), (1.0, 8, 8, 1)],
)
def test_so_many_tokens_of_each_window_are_predicted(share, context, predicted, passes):
    configuration = replace(MODERN, masked=share, context=context)
    assert (configuration.predicted, configuration.passes) == (predicted, passes)


def test_it_is_a_kind_of_its_own_that_fills_in():
    kind = kind_named("encoder")
    assert kind.fills
    assert set(kind.dials) - set(kind_named("decoder").dials) == {"masked"}
