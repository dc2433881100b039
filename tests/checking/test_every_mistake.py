"""The self-test: each known mistake gets its own name back, or one of a declared tie."""

import pytest

from checking.trying import verdict_of
from clearformer.checking.catalogue import every

EXERCISES = every()
MISTAKES = [
    pytest.param(exercise, mistake, id=f"{exercise.name}-{mistake.key}")
    for exercise in EXERCISES
    for mistake in exercise.mistakes
]
VARIANTS = [
    pytest.param(exercise, variant, id=f"{exercise.name}-{variant.key}")
    for exercise in EXERCISES
    for variant in exercise.variants
]


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_each_known_mistake_gets_its_own_name(exercise, mistake):
    verdict = verdict_of(exercise.version(mistake.change), exercise)
    tied = set().union({mistake.key}, *(tie for tie in exercise.ties if mistake.key in tie))
    assert mistake.key in verdict.mistakes
    assert set(verdict.mistakes) <= tied
    assert verdict.kind == ("right" if mistake.beside else "wrong")


@pytest.mark.parametrize(("exercise", "variant"), VARIANTS)
def test_each_convention_is_right_and_named(exercise, variant):
    verdict = verdict_of(exercise.version(variant.change), exercise)
    assert verdict.kind == "variant"
    assert verdict.variant.key == variant.key
    assert verdict.mistakes == [variant.key]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_the_right_way_is_right_with_nothing_beside_it(exercise):
    verdict = verdict_of(exercise.version(), exercise)
    assert (verdict.kind, verdict.mistakes, list(verdict.beside)) == ("right", [], [])
