"""Laws of recall: what is asked stood exactly k steps ago, and nothing else gives it away."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks.recall import Recall
from clearformer.tasks.task import IGNORED

SETTINGS = [
    {"distance": 4},
    {"distance": 64},
    {"distance": 512},
    {"distance": 64, "queries": 4},
    {"distance": 4, "queries": 4},
    {"distance": 5, "queries": 1, "values": 2, "distractors": 2, "span": 3},
    {"distance": 40, "queries": 26, "values": 30, "span": 40},
    {"distance": 1, "queries": 1},
    {"distance": 300, "queries": 3, "distractors": 1000, "values": 100, "span": 3},
]


@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_answer_stood_exactly_k_steps_ago_and_is_of_the_slot_that_is_asked(
    settings, part, rng
):
    task = Recall(**settings)
    k, symbols = task.distance, task.vocabulary
    inputs, targets = task.draw(rng, 20, part)
    assert inputs.shape == targets.shape == (20, task.context)
    for row, asked in zip(inputs, targets, strict=True):
        read = [symbols[id] for id in row]
        queries = [place for place, symbol in enumerate(read) if symbol.startswith("?")]
        assert list(np.flatnonzero(asked != IGNORED)) == queries
        assert len(queries) == task.queries
        assert {read[place] for place in queries} == {
            f"?{chr(97 + n)}" for n in range(len(queries))
        }
        for place in queries:
            answer = symbols[asked[place]]
            assert read[place - k] == answer
            assert answer[0] == read[place][1]
            assert [one for one in read if one[0] == answer[0]] == [answer], "its slot occurs once"


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_vocabulary_is_closed_and_no_symbol_stands_twice(settings, rng):
    task = Recall(**settings)
    inputs, targets = task.draw(rng, 300)
    size = len(task.vocabulary)
    assert len(set(task.vocabulary)) == size
    assert size == task.distractors + task.queries * (task.values + 1)
    assert 0 <= inputs.min() <= inputs.max() < size
    assert targets[targets != IGNORED].max() < size


def test_one_who_knows_the_slot_alone_is_right_by_chance(rng):
    task = Recall(distance=16, values=5, queries=3)
    inputs, targets = task.draw(rng, 5000)
    for guess in range(task.values):
        slot = inputs - task.distractors - task.queries * task.values
        guesses = task.distractors + slot * task.values + guess
        assert task.accuracy(guesses, targets) == pytest.approx(task.chance, abs=0.01)


def test_one_who_looks_k_steps_back_is_always_right(rng):
    task = Recall(distance=16, queries=4)
    inputs, targets = task.draw(rng, 100)
    assert task.accuracy(np.roll(inputs, task.distance, 1), targets) == 1.0
    assert task.accuracy(np.roll(inputs, task.distance - 1, 1), targets) < 0.2
    assert task.best == 0.0


def test_the_place_of_a_query_does_not_tell_its_slot(rng):
    task = Recall(distance=32, queries=4)
    inputs, _ = task.draw(rng, 8000)
    first = task.distractors + task.queries * task.values
    counts = np.array([(inputs == first + slot).sum(0) for slot in range(task.queries)])
    expected = 8000 / task.places
    assert not counts[:, : task.distance].any()
    np.testing.assert_allclose(counts[:, task.distance :], expected, rtol=0.25)


def test_the_noise_has_every_distractor_equally_often_everywhere(rng):
    task = Recall(distance=20, distractors=4)
    inputs, _ = task.draw(rng, 8000)
    between = inputs[:, task.places : task.distance]
    counts = np.array([(between == symbol).sum(0) for symbol in range(4)])
    assert counts.sum() == between.size
    np.testing.assert_allclose(counts, 2000, rtol=0.1)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"distance": 0}, "distance must be a whole number from 1"),
        ({"distance": 4.0}, "got 4.0"),
        ({"distance": True}, "got True"),
        ({"distance": 3, "queries": 4}, "queries must be a whole number from 1 to 3"),
        ({"values": 1}, "values must be a whole number from 2"),
        ({"queries": 27}, "queries must be a whole number from 1 to 26"),
        ({"distractors": 1}, "distractors must be"),
        ({"queries": 4, "span": 3}, "span must be a whole number from 4 to 64"),
        ({"span": 65}, "span must be a whole number from 1 to 64"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(settings, told):
    with pytest.raises(ConfigurationError) as caught:
        Recall(**settings)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
