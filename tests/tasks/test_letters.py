"""Laws of copying, reversing and sorting."""

from collections import Counter
from itertools import product

import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks import task

ANSWERS = {
    "copy": lambda source: source,
    "reverse": lambda source: "".join(reversed(source)),
    "sort": lambda source: "".join(sorted(source)),
}

every_task = pytest.mark.parametrize("name", ANSWERS)


@every_task
@pytest.mark.parametrize("part", ["train", "test"])
def test_every_answer_is_right(name, part, rng):
    for source, target in task(name).draw(rng, 500, part):
        assert target == ANSWERS[name](source)


@every_task
def test_every_length_that_is_promised_occurs_about_equally_often_and_no_other(name, rng):
    made = task(name, least=3, most=7)
    pairs = made.draw(rng, 5000)
    counts = Counter(len(source) for source, _ in pairs)
    assert set(counts) == {3, 4, 5, 6, 7}
    assert min(counts.values()) > 800
    assert made.longest == (7, 7)


@every_task
def test_all_letters_of_the_alphabet_occur_and_no_others(name, rng):
    made = task(name, symbols=5)
    pairs = made.draw(rng, 300)
    assert {letter for pair in pairs for text in pair for letter in text} == set("abcde")
    assert made.alphabet == tuple("abcde")


@every_task
@pytest.mark.parametrize(("least", "most", "symbols"), [(1, 1, 2), (2, 5, 3), (3, 4, 5), (1, 7, 2)])
def test_chance_is_that_of_the_likeliest_target(name, least, most, symbols):
    """By counting the targets of all sources there are."""
    likelihood = Counter()
    lengths = range(least, most + 1)
    for length in lengths:
        for letters in product("abcdefgh"[:symbols], repeat=length):
            likelihood[ANSWERS[name]("".join(letters))] += symbols**-length / len(lengths)
    made = task(name, least=least, most=most, symbols=symbols)
    assert made.chance == pytest.approx(max(likelihood.values()), rel=1e-9)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"least": 0}, "least must be a whole number from 1 to 10,000; got 0"),
        ({"least": 5, "most": 4}, "most must be a whole number from 5"),
        ({"symbols": 27}, "symbols must be a whole number from 2 to 26; got 27"),
        ({"symbols": "9"}, "got '9'"),
    ],
)
def test_what_cannot_be_is_refused(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        task("copy", **settings)
