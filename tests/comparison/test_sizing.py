"""Laws of sizes: within 2 % of the budget, whatever the kind, or refused with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from clearformer.comparison.budget import Budget
from clearformer.comparison.sizing import sized
from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS, build

SIZED = [name for name in KINDS if not KINDS[name].fills]


def budget(parameters):
    return Budget(parameters, tokens=1)


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("parameters", [12_000, 200_000, 1_000_000])
def test_every_kind_meets_the_budget(name, parameters):
    made = sized(name, KINDS[name], 65, {}, budget(parameters))
    assert abs(made.parameter_count - parameters) <= 0.02 * parameters


@pytest.mark.parametrize("name", SIZED)
def test_what_was_counted_is_what_is_built(name):
    made = sized(name, KINDS[name], 11, {}, budget(12_000))
    model = build(made, np.random.default_rng(0))
    assert sum(array.size for array in model.parameters().values()) == made.parameter_count


@pytest.mark.parametrize("recipe", ["modern", "classic"])
def test_the_shape_stays_usual(recipe):
    made = sized("decoder", KINDS["decoder"], 65, {"recipe": recipe}, budget(800_000))
    assert 3 <= made.hidden / made.embed <= 5


def test_dials_that_were_set_stay():
    dials = {"layers": 3, "heads": 2, "embed": 32, "context": 16}
    made = sized("decoder", KINDS["decoder"], 65, dials, budget(60_000))
    assert {name: getattr(made, name) for name in dials} == dials


def test_a_budget_below_the_smallest_is_refused_with_that():
    with pytest.raises(
        ConfigurationError, match=r"decoder cannot meet .* 100 .* at least [0-9,]+; take"
    ):
        sized("decoder", KINDS["decoder"], 65, {}, budget(100))


def test_a_vocabulary_that_alone_is_larger_is_refused():
    with pytest.raises(ConfigurationError, match=r"vocabulary of 50,000 .* take --vocab 1000, or"):
        sized("decoder", KINDS["decoder"], 50_000, {}, budget(100_000))


def test_widths_that_are_both_set_cannot_be_searched():
    dials = {"embed": 32, "hidden": 64}
    with pytest.raises(ConfigurationError, match="it has 37,248; take another --budget"):
        sized("decoder", KINDS["decoder"], 65, dials, budget(60_000))


def test_dials_that_cannot_be_are_told_as_they_are():
    with pytest.raises(ConfigurationError, match="activation must be one of"):
        sized("decoder", KINDS["decoder"], 65, {"activation": "old"}, budget(20_000))


@pytest.mark.parametrize("vocabulary", [12_000, 300_000])
@pytest.mark.parametrize("name", SIZED)
def test_with_the_vocabulary_that_a_refusal_names_the_budget_is_met(name, vocabulary):
    parameters = 200_000
    try:
        sized(name, KINDS[name], vocabulary, {}, budget(parameters))
    except ConfigurationError as refusal:
        assert len(str(refusal)) < 180
        fewer = int(str(refusal).partition("--vocab ")[2].partition(",")[0])
        made = sized(name, KINDS[name], fewer, {}, budget(parameters))
        assert abs(made.parameter_count - parameters) <= 0.02 * parameters


@pytest.mark.parametrize("name", SIZED)
def test_a_large_budget_is_met_by_few_tries(name):
    made = []
    kind = KINDS[name]

    class Counting(kind.configuration):
        def __post_init__(self):
            super().__post_init__()
            made.append(1)

    found = sized(name, replace(kind, configuration=Counting), 65, {}, budget(10**12))
    assert abs(found.parameter_count - 10**12) <= 0.02 * 10**12
    assert len(made) < 5000
