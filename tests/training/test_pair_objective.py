"""Laws of the loss and the judging of pairs."""

import tracemalloc
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from clearformer.engines.numpy import Learner
from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS, build
from clearformer.models.pairs.search import Found
from clearformer.text.pair_ids import side_by_side
from clearformer.training import pair_evaluation
from clearformer.training.judged_pairs import judged_pairs
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions
from clearformer.training.pair_preparation import prepare_pairs
from clearformer.training.preparation import model_for

PAIRS = [(f"{n} is", f"{n + 1}" * (1 + n % 3)) for n in range(40)]

every_kind = pytest.mark.parametrize("kind", ["seq2seq", "encoder-decoder"])


def prepared(kind, **dials):
    return prepare_pairs(
        PAIRS[:30],
        PAIRS[30:],
        (str, str),
        kind="characters",
        vocabulary=None,
        model=model_for(KINDS[kind], "tiny", {"context": 16, "embed": 8, **dials}),
        fits=lambda model: None,
        notes=(),
    )


def random_model(ready, seed=0):
    rng = np.random.default_rng(seed)
    fresh = build(ready.model, rng, np.float64)
    return fresh.with_parameters(lambda _, p: p + 0.3 * rng.standard_normal(p.shape))


@every_kind
@pytest.mark.parametrize("forcing", [1.0, 0.5])
def test_a_batch_gives_the_same_however_its_rows_are_shared_out(kind, forcing):
    ready = prepared(kind, teacher_forcing=forcing)
    objective = objective_of(ready.model)
    block = objective.batches(ready, TrainingOptions(batch=12)).next()
    model = random_model(ready)
    whole = Learner(model, objective.loss, 1)
    loss = whole.loss_and_gradients(*block)
    whole.gather()
    for workers, cuts in ((1, (0, 5, 12)), (3, (0, 12)), (2, (0, 1, 4, 12))):
        pupil, found = Learner(model, objective.loss, workers), 0.0
        for begin, end in pairwise(cuts):
            share = (end - begin) / 12
            part = [array[begin:end] for array in block]
            found += share * pupil.loss_and_gradients(*part, share=share)
        pupil.gather()
        assert found == pytest.approx(loss)
        np.testing.assert_allclose(pupil.gradients, whole.gradients, 1e-8, 1e-12)


@every_kind
def test_the_loss_of_a_batch_is_the_mean_over_its_tokens(kind):
    ready = prepared(kind)
    objective, model = objective_of(ready.model), random_model(ready)
    block = objective.batches(ready, TrainingOptions(batch=7)).next()
    sources, lengths, inputs, targets = block[:4]
    losses = []
    for row, length in enumerate(lengths):
        scores = model(sources[row : row + 1, :length], inputs[row : row + 1])[0]
        for place, wanted in enumerate(targets[row]):
            if wanted != -100:
                losses.append(log(np.exp(scores[place]).sum()) - scores[place, wanted])
    assert float(objective.loss(model, *block, None)) == pytest.approx(np.mean(losses))


@every_kind
def test_an_evaluation_says_what_the_model_does(kind):
    ready = prepared(kind)
    model, judged = random_model(ready), ready.validation
    heard = []
    found = objective_of(ready.model).evaluate(model, judged, progress=heard.append)
    nats = 0.0
    for number, (_, target) in enumerate(PAIRS[30:]):
        source = judged.pairs.sources.text(number)
        written = judged.pairs.targets.text(number)
        vocabulary = ready.model.vocabulary
        read, _ = side_by_side([source], vocabulary + 1)
        told, _ = side_by_side([written], vocabulary + 1, vocabulary)
        scores = model(read, told)[0]
        shares = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
        nats -= shares[np.arange(len(target) + 1), [*written, vocabulary + 1]].sum()
    tokens = sum(len(target) + 1 for _, target in PAIRS[30:])
    assert found.tokens == found.characters == tokens
    assert found.loss == pytest.approx(nats / tokens)
    assert found.perplexity == pytest.approx(exp(found.loss))
    assert found.bits_per_character == pytest.approx(nats / tokens / log(2))
    assert found.accuracy == 0
    assert heard[-1] == pytest.approx(1)
    assert heard == sorted(heard)


def test_an_answer_is_right_if_it_is_the_target(monkeypatch):
    def echo(model, sources, lengths, **_):
        """Answers with the source; of those with three letters it never finds an end."""
        texts = [row[: length - 1] for row, length in zip(sources, lengths, strict=True)]
        return [Found(tuple(text.tolist()), 0.0, len(text) != 3) for text in texts]

    monkeypatch.setattr(pair_evaluation, "search", echo)
    ready = prepared("seq2seq")
    pairs = [("1", "1"), ("12", "12"), ("123", "123"), ("12", "1"), ("1", "12"), ("12é", "12é")]
    judged = judged_pairs(ready.tokenizer, pairs)
    found = objective_of(ready.model).evaluate(random_model(ready), judged)
    assert found.accuracy == pytest.approx(2 / 6)


def test_a_stride_is_refused():
    objective = objective_of(prepared("seq2seq").model)
    with pytest.raises(ConfigurationError, match="reads each source whole; leave out stride=4"):
        objective.evaluate(None, None, stride=4)


def test_what_is_unknown_is_never_right_and_is_charged_for():
    ready = prepared("seq2seq")
    plain, odd = (judged_pairs(ready.tokenizer, [("1 is", t)]) for t in ("2", "2é"))
    model = random_model(ready)
    found = [objective_of(ready.model).evaluate(model, judged) for judged in (plain, odd)]
    assert odd.unknown == {"é": 1}
    assert found[1].spelling == pytest.approx(16 * log(2))
    assert found[1].loss == pytest.approx(found[0].loss)


def test_a_tokenizer_of_both_sides_is_made():
    assert set(prepared("seq2seq").tokenizer.to_json()["characters"]) == set("0123456789 is")


@every_kind
def test_a_step_keeps_no_more_than_is_counted(kind):
    ready = prepared(kind, context=48, embed=64)
    objective = objective_of(ready.model)
    pupil = Learner(build(ready.model, np.random.default_rng(0)), objective.loss, 1)
    rng = np.random.default_rng(0)
    sources, inputs, targets = rng.integers(0, ready.model.vocabulary, (3, 8, 48))
    block = sources, np.full(8, 48), inputs, targets, np.ones((8, 48), bool), np.full(8, 48.0)
    pupil.loss_and_gradients(*block)
    tracemalloc.start()
    try:
        pupil.loss_and_gradients(*block)
        highest = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert highest < 4 * ready.model.kept_numbers(8) < 5 * highest
