"""Laws of drawing: the parts never meet, and what is drawn depends on the generator alone."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks import as_sequences, task
from clearformer.tasks.parts import ONE_IN, draw_part, part_of

FEW = {
    "copy": {"least": 1, "most": 4, "symbols": 4},
    "reverse": {"least": 1, "most": 4, "symbols": 4},
    "sort": {"least": 1, "most": 4, "symbols": 4},
    "addition": {"most": 1},
    "dates": {"languages": "en", "first": 2020, "last": 2020},
}
"""Settings with so few inputs that each of them is drawn again and again."""

RECALL = {"distance": 4, "queries": 1, "distractors": 2, "values": 2}

PARTS = ("train", "test")


def rows_of(name, seed, count, part, **settings):
    """What is drawn, as things that can be compared."""
    made = task(name, **settings)
    drawn = made.draw(np.random.default_rng(seed), count, part)
    if name != "recall":
        return drawn
    inputs, targets = drawn
    return [(row.tobytes(), asked.tobytes()) for row, asked in zip(inputs, targets, strict=True)]


@pytest.mark.parametrize("name", [*FEW, "recall"])
def test_no_input_of_a_part_is_ever_in_the_other(name):
    settings = FEW.get(name, RECALL)
    seen, unseen = (
        {row[0] for seed in range(3) for row in rows_of(name, seed, 1000, part, **settings)}
        for part in PARTS
    )
    assert seen
    assert unseen
    assert not seen & unseen
    assert len(seen) > 2 * len(unseen)


@pytest.mark.parametrize("name", [*FEW, "recall"])
@pytest.mark.parametrize("part", PARTS)
def test_the_same_generator_draws_the_same_and_another_does_not(name, part):
    first, again, other = (rows_of(name, seed, 40, part) for seed in (5, 5, 6))
    assert first == again
    assert first != other
    assert len(first) == 40


@pytest.mark.parametrize("name", [*FEW, "recall"])
def test_the_parts_differ_for_the_same_seed(name):
    train, test = (rows_of(name, 5, 40, part) for part in PARTS)
    assert not {row[0] for row in train} & {row[0] for row in test}


def test_an_input_belongs_to_the_same_part_for_ever():
    """Else results of different versions could not be compared."""
    held_out = [number for number in range(60) if part_of(str(number).encode()) == "test"]
    assert held_out == [14, 15, 20, 25, 30, 31, 32, 39, 49, 54, 58]


def test_about_one_in_eight_is_held_out():
    held_out = sum(part_of(str(number).encode()) == "test" for number in range(40_000))
    assert held_out / 40_000 == pytest.approx(1 / ONE_IN, rel=0.05)


def test_what_cannot_be_held_out_is_told_in_one_line():
    with pytest.raises(ConfigurationError, match="too few different inputs") as caught:
        draw_part(3, "test", lambda count: [b"0"] * count, lambda key: key)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [*FEW, "recall"])
@pytest.mark.parametrize(
    ("count", "part", "told"),
    [
        (1, "validation", "part must be train or test; got 'validation'"),
        (0, "train", "at least 1; got 0"),
        (2.5, "train", "got 2.5"),
        (True, "train", "got True"),
    ],
)
def test_what_cannot_be_drawn_is_refused(name, count, part, told, rng):
    for made in (task(name), as_sequences(task(name)) if name != "recall" else task(name)):
        with pytest.raises(ConfigurationError, match=told):
            made.draw(rng, count, part)
