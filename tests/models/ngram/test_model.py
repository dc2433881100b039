"""The n-gram model is Kneser–Ney's equations, is causal, and gives every token a chance."""

import tracemalloc
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer import ops
from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.ngram import model as model_file
from clearformer.models.ngram.counting import sorting_bytes
from clearformer.models.ngram.fit import fit
from clearformer.models.tap import Recorder
from clearformer.text.batches import windows
from clearformer.training.objective import next_token_loss
from models.ngram.slow import SlowNGram
from text.samples import real_text

few = settings(max_examples=40, deadline=None)


def text_of(rng, length=600, vocabulary=6):
    """Skewed tokens that depend on those before, so that all counts of counts occur."""
    share = 1 / np.arange(1, vocabulary + 1) ** 1.5
    row = rng.choice(vocabulary, length, p=share / share.sum())
    return (row + np.roll(row, 1) * (rng.random(length) < 0.5)) % vocabulary


def histories(rng, text, vocabulary):
    """The empty one, those of the text, unseen ones, and ones longer than any order."""
    yield from ([], [0], text[:1], text[-1:], text[:4], text[-5:], text[30:90])
    yield from rng.integers(0, vocabulary, (8, 12))
    yield [vocabulary - 1] * 9


def after(model, history):
    """The probability of every token after a history, which may be empty."""
    if len(history):
        return np.exp(model(np.array([history]))[0, -1])
    return np.exp([model.log_probabilities([w])[0] for w in range(model.vocabulary)])


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("length", [1, 2, 4, 40, 600])
def test_it_is_the_equations_read_slowly(order, length, rng):
    text = text_of(rng, length)
    fast, slow = fit(text, 8, order), SlowNGram(text.tolist(), 8, order)
    for history in histories(rng, text, 8):
        wanted = [slow.probability(token, list(history)) for token in range(8)]
        assert after(fast, history) == pytest.approx(wanted, rel=1e-12)
    other = text_of(rng, 60)
    wanted = [log(slow.probability(w, other[:i].tolist())) for i, w in enumerate(other)]
    assert fast.log_probabilities(other) == pytest.approx(wanted, rel=1e-11)


@few
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=60),
    st.integers(1, 7),
    st.lists(st.integers(0, 6), max_size=10),
)
def test_any_text_and_history_give_what_the_equations_give(text, order, history):
    fast, slow = fit(text, 7, order), SlowNGram(text, 7, order)
    found = after(fast, history)
    assert found == pytest.approx([slow.probability(w, history) for w in range(7)], rel=1e-12)
    assert (found > 0).all()
    assert abs(found.sum() - 1) < 1e-12


def test_all_of_modified_kneser_ney_is_met(rng):
    """The texts above would prove little if the discounts were never three different ones."""
    discounts = [level.discounts for level in fit(text_of(rng), 8, 3).levels]
    assert discounts[2][1] < discounts[2][2] < discounts[2][3]
    assert all(level[0] == 0 < level[1] < 1 for level in discounts)


@pytest.mark.parametrize("vocabulary", [1, 2, 256, 65_536])
@pytest.mark.parametrize("order", [1, 4, 10])
def test_every_distribution_adds_up_to_one_and_leaves_nothing_out(vocabulary, order, rng):
    text = rng.integers(0, vocabulary, 3000) // (1 + rng.integers(0, 50, 3000))
    model = fit(text, vocabulary, order)
    for history in (text[:20], text[-20:], [vocabulary - 1] * 3):
        chances = after(model, history)
        assert abs(chances.sum() - 1) < 1e-12
        assert (chances > 0).all()


def test_largest_ids_and_longest_order_are_exact(rng):
    """Contexts are packed, not hashed: each 10-gram of 65,536 tokens is told from every other."""
    text = rng.integers(65_000, 65_536, 4000).astype(np.uint16)
    model = fit(text, 65_536, 10)
    seen = {tuple(row) for row in np.lib.stride_tricks.sliding_window_view(text, 10).tolist()}
    assert len(model.levels[9].tokens) == len(seen)
    assert int(model.levels[9].counts.sum()) == 4000 - 9
    contexts = list(model._contexts(text.astype(np.int64)))[9]
    gram = model.levels[9].find(contexts[8:-1], text[9:].astype(np.int64))
    assert (gram >= 0).all()
    assert len(np.unique(gram)) == len(seen)


@pytest.mark.parametrize("order", [1, 2, 6])
def test_a_row_a_history_and_a_batch_agree(order, rng):
    model = fit(text_of(rng), 6, order)
    rows = rng.integers(0, 6, (3, 11))
    logits = model(rows)
    assert logits.shape == (3, 11, 6)
    for row, scores in zip(rows, logits, strict=True):
        alone = [np.log(after(model, row[: t + 1])) for t in range(11)]
        assert np.allclose(scores, alone, rtol=1e-13, atol=0)
        wanted = scores[np.arange(10), row[1:]]
        assert np.allclose(model.log_probabilities(row, 1), wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("order", [1, 3, 6])
def test_a_long_row_is_worked_through_in_stretches(order, rng, monkeypatch):
    model, row = fit(text_of(rng), 6, order), text_of(rng, 200)
    whole = model.log_probabilities(row)
    monkeypatch.setattr(model_file, "STRETCH", 7)
    assert (model.log_probabilities(row) == whole).all()
    assert (model.log_probabilities(row, 50) == whole[50:]).all()
    assert len(model.log_probabilities(row, 200)) == 0


def test_the_past_never_sees_the_future(rng):
    model, rows = fit(text_of(rng), 6, 4), rng.integers(0, 6, (2, 12))
    for place in range(12):
        changed = rows.copy()
        changed[:, place] = (changed[:, place] + 1) % 6
        moved = (model(changed) != model(rows)).any((0, 2))
        assert not moved[:place].any()
        assert moved[place]
        assert not moved[place + 3 :].any()  # an order of 4 looks 3 tokens back


def test_what_takes_a_model_takes_this_one(rng):
    text = text_of(rng, 330)
    model = fit(text, 6, 3)
    inputs, targets, _ = next(windows(text, 16, 8))
    loss = float(next_token_loss(model, inputs, targets))
    chosen = np.take_along_axis(model(inputs), targets[..., None].astype(np.int64), -1)
    assert loss == pytest.approx(-chosen.mean(), rel=1e-12)
    assert float(ops.cross_entropy(model(inputs), targets)) == pytest.approx(loss, rel=1e-12)
    tap = Recorder()
    assert (model(inputs, tap) == tap.seen["logits"]).all()


def test_the_tables_are_the_parameters(rng):
    model = fit(text_of(rng), 6, 5)
    tables = model.parameters()
    assert list(tables)[:3] == ["levels.0.starts", "levels.0.tokens", "levels.0.counts"]
    assert all(table.dtype.kind == "u" and table.ndim == 1 for table in tables.values())
    assert model.order == 5
    assert model.parameter_count() == sum(table.size for table in tables.values())


def test_counting_does_not_depend_on_how_keys_are_ranked(rng, monkeypatch):
    text = text_of(rng)
    by_table = fit(text, 6, 4).parameters()
    from clearformer.models.ngram import counting

    monkeypatch.setattr(counting, "_ranked_by_table", lambda k, _: counting._ranked_by_sorting(k))
    by_sorting = fit(text, 6, 4).parameters()
    assert all((by_table[name] == by_sorting[name]).all() for name in by_table)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64])
def test_ids_of_any_whole_type_count_the_same(dtype, rng):
    text = text_of(rng)
    one, other = fit(text, 6, 4), fit(text.astype(dtype), 6, 4)
    assert all((other.parameters()[name] == p).all() for name, p in one.parameters().items())
    assert (one.log_probabilities(text.astype(dtype)) == one.log_probabilities(text)).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("ids", "vocabulary", "order", "error"),
    [
        ([0, 1], 2, 0, ConfigurationError),
        ([0, 1], 2, 33, ConfigurationError),
        ([0, 1], 2, -1, ConfigurationError),
        ([0, 1], 0, 2, ConfigurationError),
        ([0, 1], 2**62, 2, ConfigurationError),
        ([], 2, 2, ShapeError),
        ([0, 2], 2, 2, ShapeError),
        ([-1, 0], 2, 2, ShapeError),
        ([0.0, 1.0], 2, 2, ShapeError),
        ([[0, 1]], 2, 2, ShapeError),
    ],
)
def test_what_cannot_be_counted_is_refused_in_one_line(ids, vocabulary, order, error):
    with pytest.raises(error) as refused:
        fit(np.array(ids), vocabulary, order)
    assert "\n" not in str(refused.value)


def test_more_memory_than_there_is_is_refused_level_by_level(rng):
    text = text_of(rng)
    with pytest.raises(ConfigurationError, match="order 1 may take"):
        fit(text, 6, 9, memory=sorting_bytes(600, 6) - 1)
    with pytest.raises(ConfigurationError, match="smaller order") as refused:
        fit(text, 6, 9, memory=sorting_bytes(600, 600))
    assert "order 1 " not in str(refused.value)
    assert fit(text, 6, 9, memory=10**6).order == 9


@pytest.mark.parametrize("vocabulary", [3, 65_536])
def test_counting_takes_no_more_memory_than_it_says(vocabulary, rng):
    text = rng.integers(0, vocabulary, 50_000).astype(np.uint16)
    fit(text[:100], vocabulary, 2)
    tracemalloc.start()
    model = fit(text, vocabulary, 4)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(table.nbytes for table in model.parameters().values())
    assert peak < 2 * kept + sorting_bytes(50_000, 50_000) + 100_000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("ids", [[6], [-1], [0.5], [[0]]])
def test_ids_of_another_vocabulary_are_refused(ids, rng):
    model = fit(text_of(rng), 6, 3)
    with pytest.raises(ShapeError):
        model.log_probabilities(ids)
    with pytest.raises(ShapeError):
        model(np.array([[6]]))
    with pytest.raises(ShapeError):
        model.log_probabilities([0, 1], 3)


def test_what_counting_alone_reaches_on_a_known_text():
    """Golden: bits per character of the last tenth of tiny-shakespeare, by its 65 characters."""
    codes = np.frombuffer(real_text("tiny-shakespeare.txt").encode("ascii"), np.uint8)
    ids = np.unique(codes, return_inverse=True)[1]
    border = int(len(ids) * 0.9)
    bits = fit(ids[:border], 65, 5).loss(ids, border) / log(2)
    assert bits == pytest.approx(2.2522, abs=1e-4)
