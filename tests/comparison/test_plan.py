"""Laws of plans: equal lengths for all, and read back as they were written."""

import json
from unittest.mock import patch

import pytest

from clearformer.comparison.compare import planned
from clearformer.comparison.entries import sized_entries
from clearformer.comparison.plan import SHARE, Plan
from clearformer.comparison.text_course import TextCourse
from clearformer.errors import RunError
from clearformer.text.corpus import Corpus

PLAN = planned({"budget": {"parameters": 5000, "tokens": 96_000}, "batch": 12, "seeds": 2})


@pytest.mark.parametrize(
    ("window", "share", "steps"), [(64, 1.0, 125), (63, 1.0, 127), (64, SHARE, 25), (10**6, 1, 1)]
)
def test_tokens_are_read_in_whole_steps_and_never_fewer(window, share, steps):
    options = PLAN.options(1e-3, 0, window=window, share=share)
    assert options.steps == steps
    assert options.steps * 12 * window >= 96_000 * share


def test_seconds_are_shared_like_tokens():
    plan = planned({"budget": {"parameters": 5000, "seconds": 30.0}})
    assert plan.options(1e-3, 0, window=64).minutes == pytest.approx(0.5)
    assert plan.options(1e-3, 0, window=64, share=SHARE).minutes == pytest.approx(0.5 * SHARE)


def test_only_rate_and_seed_differ_between_trials():
    one, other = PLAN.options(1e-3, 0, window=64), PLAN.options(1e-2, 1, window=64)
    differing = {name for name, value in one.to_json().items() if value != other.to_json()[name]}
    assert differing == {"learning_rate", "seed"}


@pytest.mark.parametrize(("parameters", "asked", "taken"), [(5000, 4, 1), (3_000_000, 4, 4)])
def test_a_small_model_takes_fewer_threads_than_the_plan_has(parameters, asked, taken):
    budget = {"parameters": parameters, "tokens": 96_000}
    with patch("clearformer.engines.threads.processors", return_value=8):
        plan = planned({"budget": budget, "models": ["decoder"], "workers": asked})
        course = TextCourse(Corpus("the cat sat on the mat. " * 200, ("it",), ()), plan.context)
        (entry,) = sized_entries(plan, course)
        trial = entry.trial(plan, course, 1e-3, 0)
    assert trial.execution.workers == trial.options.workers == taken


def test_a_plan_comes_back_from_json():
    assert Plan.from_json(json.loads(json.dumps(PLAN.to_json())), "it") == PLAN


@pytest.mark.parametrize("name", ["models", "budget", "seeds"])
def test_a_plan_that_lacks_something_is_damaged(name):
    document = PLAN.to_json()
    del document[name]
    with pytest.raises(RunError, match="it is damaged"):
        Plan.from_json(document, "it")


def test_what_is_not_given_is_as_before():
    assert planned({"models": None, "seeds": 2}, PLAN) == PLAN
    assert planned({"seeds": 5}, PLAN) != PLAN
