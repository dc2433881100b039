"""Laws of addition."""

from collections import Counter

import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks.addition import Addition


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize(("least", "most"), [(1, 3), (2, 2), (1, 18), (18, 18)])
def test_every_sum_is_right_and_the_numbers_have_as_many_digits_as_told(least, most, part, rng):
    task = Addition(least, most)
    for source, target in task.draw(rng, 500, part):
        left, right = source.split("+")
        assert int(target) == int(left) + int(right)
        assert str(int(target)) == target
        for number in (left, right):
            assert str(int(number)) == number
            assert least <= len(number) <= most
        assert set(source + target) <= set(task.alphabet)
        assert len(source) <= task.longest[0]
        assert len(target) <= task.longest[1]


def test_the_longest_are_reached(rng):
    pairs = Addition(1, 1).draw(rng, 500)
    assert max(len(source) for source, _ in pairs) == 3
    assert max(len(target) for _, target in pairs) == 2
    assert {character for pair in pairs for character in "".join(pair)} == set("+0123456789")


def test_numbers_of_each_length_are_equally_often(rng):
    pairs = Addition(1, 4).draw(rng, 6000)
    counts = Counter(len(number) for source, _ in pairs for number in source.split("+"))
    assert set(counts) == {1, 2, 3, 4}
    assert min(counts.values()) > 2600


@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)])
def test_chance_is_that_of_the_likeliest_sum(least, most):
    """By counting the sums of all pairs of numbers there are."""
    lengths = range(least, most + 1)
    numbers = {}
    for digits in lengths:
        same = [n for n in range(10**most) if len(str(n)) == digits]
        numbers |= {n: 1 / len(same) / len(lengths) for n in same}
    sums = Counter()
    for a, likely in numbers.items():
        for b, too in numbers.items():
            sums[a + b] += likely * too
    assert Addition(least, most).chance == pytest.approx(max(sums.values()), rel=1e-9)


def test_who_has_seen_two_numbers_is_not_tested_on_them_the_other_way_round(rng):
    task = Addition(1, 2)
    seen, unseen = (
        {frozenset(source.split("+")) for source, _ in task.draw(rng, 6000, part)}
        for part in ("train", "test")
    )
    assert len(seen) > 2000
    assert len(unseen) > 300
    assert not seen & unseen


@pytest.mark.parametrize(
    ("settings", "told"),
    [((0, 3), "least must be"), ((4, 3), "most must be a whole number from 4"), ((1, 19), "to 18")],
)
def test_what_cannot_be_is_refused(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        Addition(*settings)
