"""Windows to learn from, and to be judged by."""

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError, TextError
from clearformer.text import Batches, windows
from clearformer.text.batches import IGNORED
from text.samples import many_examples

# Tokens, context (less than tokens), batch, seed.
shapes = st.tuples(st.integers(2, 60), st.integers(1, 59), st.integers(1, 9), st.integers(0, 99))
shapes = shapes.filter(lambda shape: shape[1] < shape[0])


def batches(tokens: int, context: int, batch: int, seed: int) -> Batches:
    return Batches(np.arange(tokens, dtype=np.uint16), context, batch, np.random.default_rng(seed))


@many_examples
@given(shapes)
def test_targets_are_inputs_one_token_later(shape: tuple[int, int, int, int]) -> None:
    inputs, targets = batches(*shape).next()
    assert inputs.shape == targets.shape == (shape[2], shape[1])
    assert inputs.dtype == targets.dtype == np.intp
    # The ids are 0, 1, 2, …, so that each is its own position.
    assert (targets == inputs + 1).all()
    assert (np.diff(inputs, axis=1) == 1).all()


@many_examples
@given(shapes)
def test_an_epoch_predicts_no_position_twice(shape: tuple[int, int, int, int]) -> None:
    tokens, context, _, seed = shape
    source = batches(tokens, context, 1, seed)
    seen: list[int] = []
    while source.epoch < 1:
        seen += source.next()[1].ravel().tolist()
    assert len(seen) == len(set(seen))
    # What an epoch leaves out is less than a window at either end.
    assert min(seen) - 1 < context
    assert tokens - 1 - max(seen) < context
    assert sorted(seen) == list(range(min(seen), max(seen) + 1))


@pytest.mark.parametrize(("tokens", "context"), [(2, 1), (9, 8), (10, 8), (23, 5), (25, 5)])
def test_every_start_can_come_and_no_other(tokens: int, context: int) -> None:
    source = batches(tokens, context, 50, 0)
    starts = {int(start) for _ in range(60) for start in source.next()[0][:, 0]}
    assert starts == set(range(tokens - context))


def test_the_last_token_is_predicted() -> None:
    """The exclusive bound of starts is tokens - context; one less would lose the last window."""
    source = batches(9, 8, 1, 0)
    assert source.next()[1][0, -1] == 8


def test_every_position_is_seen_about_once_per_epoch() -> None:
    source = batches(1000, 10, 16, 0)
    seen = np.zeros(1000, int)
    while source.epoch < 200:
        np.add.at(seen, source.next()[1].ravel(), 1)
    assert (seen[20:-20] >= 198).all()
    assert (seen <= 202).all()


def test_each_epoch_has_an_order_of_its_own() -> None:
    source = batches(101, 10, 9, 0)
    assert not np.array_equal(source.next()[0], source.next()[0])


@many_examples
@given(shapes, st.integers(0, 12), st.integers(1, 12), st.integers(100, 199))
def test_a_restored_one_goes_on_with_the_same_batches(
    shape: tuple[int, int, int, int], before: int, after: int, seed: int
) -> None:
    tokens, context, batch, _ = shape
    source = batches(*shape)
    for _ in range(before):
        source.next()
    state = json.loads(json.dumps(source.state(), allow_nan=False))
    other = batches(tokens, context, batch, seed)
    other.restore(state)
    assert other.epoch == source.epoch
    for _ in range(after):
        assert np.array_equal(source.next(), other.next())
    assert other.state() == source.state()


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_every_kind_of_generator_can_be_restored(name: str) -> None:
    def made(seed: int) -> Batches:
        generator = np.random.Generator(getattr(np.random, name)(seed))
        return Batches(np.arange(50), 4, 3, generator)

    source, other = made(1), made(2)
    for _ in range(7):
        source.next()
    other.restore(json.loads(json.dumps(source.state())))
    for _ in range(30):
        assert np.array_equal(source.next(), other.next())


def test_the_state_is_small_whatever_the_text() -> None:
    assert len(json.dumps(batches(50, 4, 3, 0).state())) < 150
    assert len(json.dumps(batches(50_000, 4, 3, 0).state())) < 150


def test_asking_for_the_state_changes_nothing() -> None:
    asked, left_alone = batches(50, 4, 3, 0), batches(50, 4, 3, 0)
    for _ in range(30):
        asked.state()
        assert np.array_equal(asked.next(), left_alone.next())


def damaged_states() -> list[dict[str, Any]]:
    state = batches(50, 4, 3, 0).state()
    wrong: list[Any] = [None, -1, True, 1.5, "1", [], {}, float("nan"), 10**30]
    return [
        *({**state, name: value} for name in state for value in wrong if name != "epochs"),
        *({key: state[key] for key in state if key != name} for name in state),
        {**state, "epochs": -1},
        {**state, "key": 2**64},
        {},
    ]


@pytest.mark.parametrize("state", damaged_states(), ids=lambda state: str(state)[:60])
def test_a_damaged_state_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(TextError, match="saved position"):
        batches(50, 4, 3, 0).restore(state)


def test_the_state_of_another_text_is_refused() -> None:
    with pytest.raises(TextError, match="tokens 60, context 4; here are tokens 50, context 4"):
        batches(50, 4, 3, 0).restore(batches(60, 4, 3, 0).state())


def test_a_text_shorter_than_a_window_is_refused_with_what_would_do() -> None:
    for tokens in (0, 1, 4):
        with pytest.raises(TextError, match=f"needs 5 tokens; the text has {tokens}"):
            batches(tokens, 4, 1, 0)
    assert batches(5, 4, 1, 0).next()[0].tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize(("context", "batch"), [(0, 1), (-1, 1), (1, 0), (1, -3)])
def test_sizes_below_one_are_refused(context: int, batch: int) -> None:
    with pytest.raises(ConfigurationError, match="at least 1"):
        batches(10, context, batch, 0)
    with pytest.raises(ConfigurationError, match="at least 1"):
        windows(np.arange(10), context, batch)


# Several processes that share each batch.

ranks = st.integers(1, 12)
some_examples = settings(many_examples, max_examples=60)


@some_examples
@given(shapes, ranks, st.integers(1, 9))
def test_the_rows_of_all_ranks_are_the_batch(
    shape: tuple[int, int, int, int], world: int, steps: int
) -> None:
    """However many there are, also more than rows: each row once, as many steps for each."""
    tokens, context, batch, seed = shape
    ids = np.arange(tokens, dtype=np.uint16)
    together = batches(*shape)
    apart = [
        Batches(ids, context, batch, np.random.default_rng(seed), rank, world)
        for rank in range(world)
    ]
    for _ in range(steps):
        parts = [source.next() for source in apart]
        for whole, mine in zip(together.next(), zip(*parts, strict=True), strict=True):
            assert np.array_equal(np.concatenate(mine), whole)
            sizes = [len(rows) for rows in mine]
            assert max(sizes) - min(sizes) <= 1
            assert all(rows.shape[1:] == (context,) and rows.dtype == np.intp for rows in mine)
        assert {str(source.state()) for source in apart} == {str(together.state())}


@some_examples
@given(shapes, ranks, ranks, st.integers(0, 9))
def test_a_run_saved_on_some_ranks_goes_on_on_others(
    shape: tuple[int, int, int, int], before: int, after: int, steps: int
) -> None:
    tokens, context, batch, seed = shape
    ids = np.arange(tokens, dtype=np.uint16)

    def of(world: int, number: int) -> list[Batches]:
        rngs = [np.random.default_rng(number) for _ in range(world)]
        return [Batches(ids, context, batch, rng, rank, world) for rank, rng in enumerate(rngs)]

    first, second, whole = of(before, seed), of(after, seed + 100), batches(*shape)
    for _ in range(steps):
        whole.next()
        for source in first:
            source.next()
    for source in second:
        source.restore(json.loads(json.dumps(first[0].state())))
    rows = [source.next()[0] for source in second]
    assert np.array_equal(np.concatenate(rows), whole.next()[0])


@pytest.mark.parametrize(("rank", "world"), [(-1, 2), (2, 2), (0, 0), (0, -1)])
def test_a_rank_that_is_none_is_refused(rank: int, world: int) -> None:
    with pytest.raises(ConfigurationError, match=f"got {rank}"):
        Batches(np.arange(50), 4, 3, np.random.default_rng(0), rank, world)


def test_batches_take_no_memory_that_grows_with_the_text() -> None:
    """A list of the starts of this text would take 4 MB."""
    ids = np.zeros(1 << 20, np.uint8)
    tracemalloc.start()
    try:
        source = Batches(ids, 2, 4, np.random.default_rng(0))
        for _ in range(1000):
            source.next()
        assert tracemalloc.get_traced_memory()[1] < 300_000
    finally:
        tracemalloc.stop()


@many_examples
@given(st.integers(2, 80), st.integers(1, 90), st.integers(1, 9))
def test_windows_predict_every_position_once_in_order(
    tokens: int, context: int, batch: int
) -> None:
    predicted: list[int] = []
    for inputs, targets, counted in windows(np.arange(tokens, dtype=np.uint8), context, batch):
        assert inputs.shape == targets.shape
        assert inputs.dtype == targets.dtype == np.intp
        assert len(inputs) <= batch
        assert counted == targets.size > 0
        assert (targets == inputs + 1).all()
        predicted += targets.ravel().tolist()
    assert predicted == list(range(1, tokens))


@many_examples
@given(st.integers(2, 80), st.integers(1, 30), st.integers(1, 9), st.data())
def test_windows_that_overlap_predict_every_position_once_from_the_latest_place_that_holds_it(
    tokens: int, context: int, batch: int, data: st.DataObject
) -> None:
    stride = data.draw(st.integers(1, context))
    predicted: dict[int, int] = {}
    for inputs, targets, counted in windows(np.arange(tokens), context, batch, stride):
        asked = targets != IGNORED
        assert counted == asked.sum() > 0
        assert (targets == inputs + 1)[asked].all()
        for begin, row, those in zip(inputs[:, 0], targets, asked, strict=True):
            predicted |= dict.fromkeys(row[those].tolist(), int(begin))
    assert list(predicted) == list(range(1, tokens))
    for target, begin in predicted.items():
        needed = max(target - context, 0)  # the first place whose window reaches so far
        assert begin == -(-needed // stride) * stride
        assert target - begin > min(context - stride, target - 1)


@pytest.mark.parametrize("stride", [0, -1, 5])
def test_a_stride_that_leaves_tokens_out_is_refused(stride: int) -> None:
    with pytest.raises(ConfigurationError, match="stride must be from 1 to the context of 4"):
        windows(np.arange(10), 4, 1, stride)


@pytest.mark.parametrize("tokens", [0, 1])
def test_nothing_to_predict_is_refused_at_once(tokens: int) -> None:
    with pytest.raises(TextError, match="at least 2 tokens"):
        windows(np.arange(tokens), 4, 1)
