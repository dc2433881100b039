"""Laws of evaluation: every position once, in units that can be compared."""

import math

import numpy as np
import pytest

from clearformer.errors import TextError
from clearformer.text.tokenizer import KINDS, build_tokenizer
from clearformer.training import evaluation
from clearformer.training.evaluation import LARGEST_LOGITS, ROWS, Evaluation, evaluate, rows_for
from clearformer.training.judged import Judged, judged
from training import tiny


class Uniform:
    """Every token is equally likely, whatever came before."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def __call__(self, ids, rng=None):
        return np.zeros((*ids.shape, self.vocabulary), np.float32)


def naive_loss(model, ids, context):
    """Window after window, position after position; nats per token, and how many positions."""
    total, counted = 0.0, 0
    for start in range(0, len(ids) - 1, context):
        window = np.asarray(ids[start : start + context + 1]).astype(int)
        logits = np.asarray(model(window[None, :-1]), np.float64)[0]
        for row, target in zip(logits, window[1:], strict=True):
            total += math.log(np.exp(row - row.max()).sum()) + row.max() - row[target]
            counted += 1
    assert counted == len(ids) - 1
    return total / counted


def of(ids, characters=1):
    """Ids as a text to be judged by."""
    return Judged(ids, characters, {}, 0.0)


@pytest.fixture(scope="module")
def model():
    """A tiny model that has learned a little, so that its losses differ between positions."""
    training = tiny.loop(steps=30, learning_rate=0.02)
    while training.progress < 1:
        training.one_step()
    return training.learner.model


@pytest.mark.parametrize(
    "tokens", [2, 3, 8, 9, 10, 17, ROWS * 8, ROWS * 8 + 1, ROWS * 8 + 2, ROWS * 16 + 5]
)
def test_every_position_is_judged_once(model, tokens):
    ids = np.tile(tiny.prepared().train, 2)[:tokens]
    found = evaluate(model, of(ids), context=8)
    assert found.tokens == tokens - 1
    assert found.loss == pytest.approx(naive_loss(model, ids, 8), rel=1e-5)


@pytest.mark.parametrize("context", [1, 3, 8])
def test_windows_are_as_long_as_asked(model, context):
    ids = tiny.prepared().validation.ids
    found = evaluate(model, of(ids), context=context)
    assert found.loss == pytest.approx(naive_loss(model, ids, context), rel=1e-5)


@pytest.mark.parametrize("tokens", [2, 8, 9, 12, 13, ROWS * 4 + 3, ROWS * 8 + 6])
@pytest.mark.parametrize("stride", [1, 3, 4, 8])
def test_windows_that_overlap_count_each_position_once_from_where_it_has_most_behind(
    model, tokens, stride
):
    ids = np.tile(tiny.prepared().train, 2)[:tokens]
    total = 0.0
    for place in range(1, tokens):
        begin = -(-max(place - 8, 0) // stride) * stride
        logits = np.asarray(model(ids[None, begin:place].astype(int)), np.float64)[0, -1]
        total += math.log(np.exp(logits - logits.max()).sum()) + logits.max() - logits[ids[place]]
    found = evaluate(model, of(ids), context=8, stride=stride)
    assert found.tokens == tokens - 1
    assert found.loss == pytest.approx(total / (tokens - 1), rel=1e-5)


def test_threads_change_nothing(model):
    learner = tiny.learner(workers=3)
    ids = tiny.prepared().train
    alone = evaluate(model, of(ids), context=8)
    shared = evaluate(model, of(ids), context=8, spread=learner.spread)
    assert shared.loss == pytest.approx(alone.loss, rel=1e-6)


@pytest.mark.parametrize("stretch", [1, 2, 5])
def test_a_long_text_is_judged_in_stretches_that_change_nothing(model, monkeypatch, stretch):
    """The losses of all pieces of a text larger than memory would grow with it."""
    learner = tiny.learner(workers=2)
    ids = tiny.prepared().train
    whole = evaluate(model, of(ids), context=8, rows=4)
    monkeypatch.setattr(evaluation, "STRETCH", stretch)
    parts = evaluate(model, of(ids), context=8, rows=4, spread=learner.spread)
    assert parts.tokens == whole.tokens
    assert parts.loss == pytest.approx(whole.loss, rel=1e-12)


def test_a_model_that_knows_nothing_needs_log_vocabulary():
    ready = tiny.prepared()
    vocabulary = ready.tokenizer.vocabulary_size
    found = evaluate(
        Uniform(vocabulary),
        ready.validation,
        context=8,
    )
    assert found.loss == pytest.approx(math.log(vocabulary), rel=1e-6)
    assert found.perplexity == pytest.approx(vocabulary, rel=1e-6)
    assert found.bits_per_character == pytest.approx(math.log2(vocabulary), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", [tiny.TEXT, "吾輩は猫である。名前はまだ無い。" * 30], ids=["en", "ja"]
)
def test_bits_per_character_are_the_bits_of_the_whole_text_over_its_characters(kind, text):
    ready = tiny.prepared(text, kind=kind)
    vocabulary = ready.tokenizer.vocabulary_size
    found = evaluate(Uniform(vocabulary), ready.validation, context=8)
    judged = text[int(len(text) * 0.9) :]
    first = len(ready.tokenizer.decode(ready.validation.ids[:1]))
    bits = (len(ready.validation.ids) - 1) * math.log2(vocabulary)
    bits += sum((len(piece.encode()) + 1) * 8 * n for piece, n in ready.validation.unknown.items())
    assert found.bits_per_character == pytest.approx(bits / (len(judged) - first), rel=1e-6)


@pytest.mark.parametrize("tokens", [0, 1])
def test_fewer_than_two_tokens_are_refused(model, tokens):
    with pytest.raises(TextError, match=f"at least 2 tokens; the text has {tokens}"):
        evaluate(model, of(tiny.prepared().train[:tokens]), context=8)


def test_the_worst_loss_overflows_nothing():
    found = Evaluation(loss=1e6, tokens=10, characters=0)
    assert math.isfinite(found.perplexity)
    assert math.isfinite(found.bits_per_character)


def test_an_unknown_word_costs_its_spelling():
    """Else a vocabulary of few words would look better the less it knows."""
    tokenizer = build_tokenizer("words", "the cat saw the dog")
    known, unknown = judged(tokenizer, "the cat saw"), judged(tokenizer, "the cow saw")
    assert (known.unknown, known.spelling) == ({}, 0)
    assert (unknown.unknown, unknown.unknown_tokens) == ({"cow": 1}, 1)
    assert unknown.spelling == pytest.approx((len("cow") + 1) * math.log(256))
    cheap, dear = (evaluate(Uniform(7), text, context=8) for text in (known, unknown))
    assert cheap.loss == pytest.approx(dear.loss)
    assert dear.bits_per_character > cheap.bits_per_character + 3


def test_a_character_that_was_left_out_costs_its_bytes():
    tokenizer = build_tokenizer("characters", "abc")
    found = judged(tokenizer, "abéc")
    assert (len(found.ids), found.characters) == (3, 3)
    assert found.spelling == pytest.approx(2 * math.log(256))


@pytest.mark.parametrize("context", [1, 64, 1024])
@pytest.mark.parametrize("vocabulary", [2, 65, 2048, 70_000, 10**9])
def test_a_large_vocabulary_is_judged_in_small_pieces(context, vocabulary):
    """32 windows at once of a large vocabulary take gigabytes that training never needed."""
    rows = rows_for(context, vocabulary)
    assert 1 <= rows <= ROWS
    assert rows == 1 or rows * context * vocabulary <= LARGEST_LOGITS
    assert rows == ROWS or (rows + 1) * context * vocabulary > LARGEST_LOGITS
