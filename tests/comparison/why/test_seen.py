import json
from dataclasses import replace

import numpy as np
import pytest

from clearformer import ops
from clearformer.comparison.why.seen import Seen, cuts_of, seen_of
from clearformer.comparison.why.windows import windows_of
from clearformer.models.kinds import KINDS, build
from comparison.why.tiny import tiny


def recurrent():
    """The same with a GRU."""
    entrant = tiny()
    made = KINDS["gru"].configuration(entrant.configuration.vocabulary, embed=8, context=12)
    model = build(made, np.random.default_rng(3), np.float64)
    return replace(entrant, name="gru", configuration=made, model=model)


def loss_after(entrant, tokens, longest, windows):
    """Mean bits of the token after so many, asked one stretch at a time."""
    bits = []
    for row in windows_of(entrant.held_out, longest + 1, windows):
        shares = ops.softmax(entrant.model(row[None, :tokens]))[0, -1]
        bits.append(-np.log2(shares[row[tokens]]))
    return np.mean(bits)


@pytest.mark.parametrize("made", [tiny, recurrent])
def test_means_are_those_of_each_number_of_tokens_by_itself(made):
    found = seen_of(made(), longest=11, windows=5)
    assert found.first == (1, 2, 3, 5, 9) and found.last == (1, 2, 4, 8, 11)
    for first, last, bits in zip(found.first, found.last, found.bits, strict=True):
        expected = [loss_after(made(), n, 11, 5) for n in range(first, last + 1)]
        assert bits == pytest.approx(np.mean(expected), rel=1e-5)
    assert found.at(3) == found.bits[2] and found.at(4) is None


def test_a_model_with_a_window_is_asked_for_the_same_tokens_as_far_as_it_sees():
    found, further = (seen_of(each, longest=40, windows=6) for each in (tiny(), recurrent()))
    assert found.last[-1] == 12 and further.last[-1] == 40
    assert found.windows == further.windows
    assert found.bits[0] == pytest.approx(loss_after(tiny(), 1, 40, 6), rel=1e-5)


@pytest.mark.parametrize("longest", [1, 2, 3, 64, 100])
def test_every_number_of_tokens_is_in_one_mean(longest):
    cuts = cuts_of(longest)
    assert [n for first, last in cuts for n in range(first, last + 1)] == [*range(1, longest + 1)]


def test_in_a_task_of_rows_nothing_is_measured():
    assert seen_of(replace(tiny(), held_out=np.zeros((4, 9), int))) is None


def test_it_is_plain_json():
    found = seen_of(tiny(), longest=5, windows=2)
    assert Seen.from_json(json.loads(json.dumps(found.to_json()))) == found
