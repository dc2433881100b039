"""Laws of pairs as rows of ids."""

import numpy as np
import pytest

from clearformer.tasks import IGNORED, as_sequences, task
from clearformer.tasks.sequences import END, MARKS, PAD, TO

PAIRS = ["copy", "reverse", "sort", "addition", "dates"]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("part", ["train", "test"])
def test_rows_hold_the_pairs_and_ask_for_the_targets_alone(name, part):
    pairs = task(name)
    made = as_sequences(pairs)
    inputs, targets = made.draw(np.random.default_rng(3), 200, part)
    assert inputs.shape == targets.shape == (200, made.context)
    told = pairs.draw(np.random.default_rng(3), 200, part)
    for row, asked, (source, target) in zip(inputs, targets, told, strict=True):
        where = np.flatnonzero(asked != IGNORED)
        mark = len(source)
        assert list(where) == [*range(mark, mark + len(target) + 1)]
        assert row[mark] == TO
        assert made.decode(row[:mark]) == source
        assert made.decode(row[mark + 1 :]) == target
        assert made.decode(asked[where]) == target
        assert asked[where[-1]] == END
        assert list(row[where[1:]]) == list(asked[where[:-1]]), "what was asked is read next"
        assert (row[mark + len(target) + 2 :] == PAD).all()


@pytest.mark.parametrize("name", PAIRS)
def test_the_longest_pair_fills_a_row(name):
    made = as_sequences(task(name))
    assert made.context == sum(made.pairs.longest) + 1
    assert (
        len(set(made.vocabulary)) == len(made.vocabulary) == len(MARKS) + len(made.pairs.alphabet)
    )
    assert made.name == name
    assert made.chance == made.pairs.chance
    assert made.best == 0.0


def test_the_longest_pair_is_there_with_its_end(rng):
    made = as_sequences(task("copy", least=3, most=3))
    inputs, targets = made.draw(rng, 4)
    assert inputs.shape == (4, 7)
    assert (inputs != PAD).all()
    assert (targets[:, -1] == END).all()


def test_an_answer_is_right_when_all_of_it_is(rng):
    made = as_sequences(task("copy", least=3, most=3))
    _, targets = made.draw(rng, 4)
    ids = np.where(targets == IGNORED, 0, targets)
    assert made.accuracy(ids, targets) == 1.0
    ids[0, 4] += 1
    ids[0, 5] += 1
    ids[2, -1] = PAD
    ids[3, 0] += 1  # not asked
    assert made.accuracy(ids, targets) == 0.5


def test_a_text_becomes_ids_and_is_itself_again():
    made = as_sequences(task("dates"))
    text = "令和3年3月3日"
    assert made.decode(np.array(made.encode(text))) == text
    assert made.decode(np.array([*made.encode("12"), END, *made.encode("3")])) == "12"
