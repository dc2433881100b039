"""Laws of budgets: written and read alike, and refused where they cannot be."""

import pytest

from clearformer.comparison.budget import Budget, budget_of
from clearformer.errors import ConfigurationError

USUAL = Budget(200_000, tokens=1_000_000)


@pytest.mark.parametrize(
    "written", ["parameters=20000,tokens=1000000", "parameters=1500,seconds=0.25"]
)
def test_a_budget_is_shown_as_it_is_written(written):
    assert str(budget_of(written, Budget(1, tokens=1))) == written


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("parameters=800k,tokens=1M", Budget(800_000, tokens=1_000_000)),
        ("parameters=0.8M, seconds=2.5", Budget(800_000, seconds=2.5)),
        ("tokens=12_000", Budget(200_000, tokens=12_000)),
        ("seconds=60", Budget(200_000, seconds=60.0)),
        ("parameters=5000", Budget(5000, tokens=1_000_000)),
        ({"parameters": 7, "tokens": 3}, Budget(7, tokens=3)),
        (None, USUAL),
        (Budget(1, seconds=1), Budget(1, seconds=1)),
    ],
)
def test_what_is_left_open_is_as_usual(written, meant):
    assert budget_of(written, USUAL) == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("parameters", "'parameters'"),
        ("parameters=many", "many"),
        ("parameters=1,parameters=2", "each once"),
        ("parameters=0.0001k", "whole number"),
        ("parameters=0", "from 1 to"),
        ("tokens=5,seconds=5", "tokens or seconds"),
        ("seconds=0", "above 0"),
        ("steps=5", "steps"),
        ({"minutes": 5}, "minutes"),
        ({"parameters": 1.5}, "1.5"),
        ({"seconds": float("nan")}, "nan"),
        ({"seconds": True}, "True"),
        ("parameters=" + "9" * 400, "from 1 to 9,007,199,254,740,992"),
        ("tokens=" + "9" * 400, "from 1 to"),
        ("seconds=" + "9" * 400, "inf"),
        ({"parameters": 10**5000}, "from 1 to"),
        (5, "a string or a mapping; got 5"),
        ([1], "a string or a mapping"),
        ({5: 6}, "got 5"),
    ],
)
def test_a_budget_that_cannot_be_is_refused(written, told):
    with pytest.raises(ConfigurationError, match=told) as refusal:
        budget_of(written, USUAL)
    assert "\n" not in str(refusal.value)


def test_two_percent_is_within_and_more_is_not():
    budget = Budget(10_000, tokens=1)
    assert budget.allows(9_800)
    assert budget.allows(10_200)
    assert not budget.allows(9_799)
    assert not budget.allows(10_201)
