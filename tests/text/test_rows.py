"""A text read in parallel rows: each goes on where it stopped, and all of it is read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError, TextError
from clearformer.text.rows import ParallelRows
from text.samples import many_examples

# Tokens, context (less than tokens), batch, seed.
shapes = st.tuples(st.integers(2, 90), st.integers(1, 20), st.integers(1, 9), st.integers(0, 99))
shapes = shapes.filter(lambda shape: shape[1] < shape[0])


def rows(tokens, context, batch, seed=0, **ranks):
    ids = np.arange(tokens, dtype=np.uint16)
    return ParallelRows(ids, context, batch, np.random.default_rng(seed), **ranks)


@many_examples
@given(shapes)
def test_each_window_goes_on_where_the_last_of_its_row_ended(shape):
    source, ended = rows(*shape), None
    for _ in range(12):
        inputs, targets, numbers, begins = source.next()
        assert inputs.shape == targets.shape == (shape[2], shape[1])
        assert (targets == inputs + 1).all()  # the ids are 0, 1, 2, …, each its own position
        assert numbers.tolist() == list(range(shape[2]))
        assert begins.all() or not begins.any()
        if not begins[0]:
            assert (inputs[:, 0] == ended).all()
        ended = targets[:, -1]


@many_examples
@given(shapes)
def test_an_epoch_predicts_no_position_twice_and_leaves_out_less_than_a_batch(shape):
    tokens, context, batch, _ = shape
    source, seen = rows(*shape), []
    while source.epoch < 1:
        seen += source.next()[1].ravel().tolist()
    if tokens - 1 < batch * context:  # rows overlap; nothing is left out
        assert set(seen) >= set(range(tokens - context, tokens)) | set(range(1, context + 1))
        if batch > 1:
            assert set(seen) == set(range(1, tokens))
        return
    assert len(seen) == len(set(seen))
    assert tokens - 1 - len(seen) < batch * context
    assert sorted(seen) == list(range(min(seen), max(seen) + 1))


def test_every_position_is_predicted_in_some_epoch():
    source, seen = rows(50, 4, 3), set()
    while source.epoch < 40:
        seen |= set(source.next()[1].ravel().tolist())
    assert seen == set(range(1, 50))


def test_all_rows_begin_anew_with_an_epoch_and_only_then():
    source = rows(50, 4, 3)
    begun = [source.next()[3][0] for _ in range(9)]
    assert begun == [True, False, False, False] * 2 + [True]


@many_examples
@given(shapes, st.integers(0, 9), st.integers(1, 5))
def test_a_restored_state_goes_on_in_any_number_of_processes(shape, before, ranks):
    whole, stopped = rows(*shape), rows(*shape)
    for _ in range(before):
        whole.next()
        stopped.next()
    state = json.loads(json.dumps(stopped.state()))
    parts = [rows(*shape[:3], seed=77, rank=rank, ranks=ranks) for rank in range(ranks)]
    for part in parts:
        part.restore(state)
        assert part.targets == whole.targets
    for _ in range(5):
        expected, found = whole.next(), [part.next() for part in parts]
        for number, array in enumerate(expected):
            assert np.array_equal(np.concatenate([each[number] for each in found]), array)


def test_a_state_of_other_rows_is_refused():
    with pytest.raises(TextError, match="rows 4; here are tokens 50, context 4, rows 3"):
        rows(50, 4, 3).restore(rows(50, 4, 4).state())


@pytest.mark.parametrize(
    "change",
    [{"position": 5}, {"position": -1}, {"key": 2**64}, {"epochs": 0.5}, {"tokens": "50"}],
)
def test_a_damaged_state_is_refused(change):
    with pytest.raises(TextError, match="saved position"):
        rows(50, 4, 3).restore({**rows(50, 4, 3).state(), **change})


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TextError, match="needs 9 tokens; the text has 8"):
        rows(8, 8, 1)
    with pytest.raises(ConfigurationError, match="batch must be at least 1"):
        rows(9, 8, 0)
    with pytest.raises(ConfigurationError, match="rank"):
        rows(9, 8, 1, rank=2, ranks=2)
