"""A configuration refuses what cannot work, in one line that says what would."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from clearformer.errors import ConfigurationError
from clearformer.models.build import build_decoder
from clearformer.models.configuration import CHOICES, RECIPES, SIZES, ModelConfiguration
from engines.proofs import few_examples
from models.decoders import every_variant

WRONG = [
    *(
        (name, value)
        for name in ("vocabulary", "layers", "heads", "embed", "context")
        for value in (0, -1, 1.0, 4.5, "4", True, None, [4])
    ),
    *((name, value) for name in ("key_value_heads", "hidden") for value in (0, -4, 2.0, "2", True)),
    *((name, value) for name in ("positions", "norm", "activation") for value in ("no", 1, True)),
    *(("recipe", value) for value in ("no", 1, None)),
    *((name, value) for name in ("query_key_norm", "bias", "tied") for value in ("yes", 2, [])),
    *(("largest_score", value) for value in (0, -1.0, 61, "16", True, float("nan"), float("inf"))),
    *(("dropout", value) for value in (1, 1.0, -0.1, 2, "0.1", None, float("nan"), float("inf"))),
    ("key_value_heads", 3),
    ("key_value_heads", 8),
    ("embed", 130),
    ("embed", 12),
    ("heads", 3),
]


def told(**fields):
    """The one line in which a configuration is refused."""
    with pytest.raises(ConfigurationError) as caught:
        ModelConfiguration(**{"vocabulary": 65, **fields})
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("name", "value"), WRONG, ids=str)
def test_each_wrong_value_is_refused_by_name_and_shown(name, value, unchecked):
    message = told(**{name: value})
    assert name in message
    assert str(value) in message


@pytest.mark.parametrize("name", ["vocabulary", "layers", "embed", "hidden"])
def test_an_absurd_size_is_not_called_too_small(name):
    message = told(**{name: 2**41})
    assert str(2**41) in message.replace(",", "")
    assert "at most" in message or "between" in message


def suggestions(message):
    """The numbers after "try": of embed, unless the name of something else stands before them."""
    tail = re.search(r"try (.*)", message)
    assert tail, f"no suggestion in: {message}"
    return [int(number) for number in re.findall(r"\d+", tail[1])]


@few_examples
@given(
    embed=some.integers(1, 300),
    heads=some.integers(1, 20),
    recipe=some.sampled_from(sorted(RECIPES)),
)
def test_the_widths_it_suggests_work(embed, heads, recipe):
    try:
        ModelConfiguration(65, embed=embed, heads=heads, recipe=recipe)
    except ConfigurationError as refused:
        for suggested in suggestions(str(refused)):
            ModelConfiguration(65, embed=suggested, heads=heads, recipe=recipe)
            assert abs(suggested - embed) <= 2 * heads


def test_the_widths_it_suggests_for_the_default_recipe_work():
    for suggested in suggestions(told(embed=130, heads=4)):
        assert ModelConfiguration(65, embed=suggested, heads=4)


@few_examples
@given(heads=some.integers(1, 16), shared=some.integers(1, 20))
def test_the_shared_heads_it_suggests_work(heads, shared):
    sizes = {"heads": heads, "embed": 2 * heads}
    try:
        ModelConfiguration(65, **sizes, key_value_heads=shared)
    except ConfigurationError as refused:
        for suggested in suggestions(str(refused)):
            ModelConfiguration(65, **sizes, key_value_heads=suggested)


@every_variant
def test_it_goes_through_json_and_back(configuration):
    document = json.loads(json.dumps(configuration.to_json()))
    again = ModelConfiguration.from_json(document)
    assert again == configuration.completed
    assert again.to_json() == document
    assert again.parameter_count == configuration.parameter_count
    assert None not in document.values()


def test_an_unknown_key_is_refused_by_name():
    with pytest.raises(ConfigurationError, match="trust_remote_code") as caught:
        ModelConfiguration.from_json({"vocabulary": 5, "trust_remote_code": True})
    assert "\n" not in str(caught.value)


def test_a_document_without_a_vocabulary_is_refused():
    with pytest.raises(ConfigurationError, match="vocabulary"):
        ModelConfiguration.from_json({"layers": 2})


@pytest.mark.parametrize("fields", [{"layers": "2"}, {"layers": 0}, {"tied": "no"}])
def test_a_document_with_a_wrong_value_is_refused(fields, unchecked):
    with pytest.raises(ConfigurationError, match=next(iter(fields))):
        ModelConfiguration.from_json({"vocabulary": 5, **fields})


def test_what_is_not_said_follows_from_the_recipe():
    for recipe, pieces in RECIPES.items():
        completed = ModelConfiguration(65, recipe=recipe).completed
        assert {name: getattr(completed, name) for name in pieces} == pieces
        assert completed.hidden == 4 * completed.embed
        assert completed.key_value_heads == completed.heads
        assert completed.completed == completed


def test_what_is_said_is_kept():
    said = {"positions": "sinusoidal", "norm": "layer", "activation": "swiglu", "bias": True}
    completed = ModelConfiguration(65, **said, query_key_norm=False, hidden=7).completed
    assert {name: getattr(completed, name) for name in said} == said
    assert (completed.query_key_norm, completed.hidden) == (False, 7)


def test_a_gated_layer_has_about_as_many_parameters_as_one_without():
    plain, gated = (
        ModelConfiguration(65, embed=96, activation=each) for each in ("gelu", "swiglu")
    )
    assert gated.parameter_count == pytest.approx(plain.parameter_count, rel=0.01)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_size_of_the_dial_works(size, recipe):
    configuration = ModelConfiguration(65, **SIZES[size], recipe=recipe)
    assert configuration.embed % configuration.heads == 0
    if size == "small":
        assert configuration.parameter_count <= 850_000


def test_every_choice_that_is_offered_can_be_built():
    base = ModelConfiguration(7, layers=1, heads=2, embed=8, context=4)
    for name, values in CHOICES.items():
        for value in values:
            assert build_decoder(replace(base, **{name: value}), None).blocks


def test_a_model_saved_before_there_was_a_largest_score_has_none():
    now = ModelConfiguration(65).to_json()
    assert now["largest_score"] == 16
    earlier = {name: value for name, value in now.items() if name != "largest_score"}
    found = ModelConfiguration.from_json(earlier)
    assert found.largest_score is None
    assert found.to_json() == earlier
    assert build_decoder(found, None).blocks[0].attention.scale is None


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_the_largest_score_is_that_of_equal_directions_whatever_the_width(heads):
    sizes = {"heads": heads, "embed": 32, "layers": 1}
    attention = build_decoder(ModelConfiguration(9, **sizes), None).blocks[0].attention
    width = 32 // heads
    assert attention.scale * width == pytest.approx(16)
    assert (
        build_decoder(ModelConfiguration(9, **sizes, recipe="classic"), None)
        .blocks[0]
        .attention.scale
        is None
    )
