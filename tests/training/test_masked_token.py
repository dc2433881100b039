"""Laws of the masked-token objective: sharing rows changes nothing; every token is judged once."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from clearformer.engines import choose
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kinds import KINDS
from clearformer.text.batches import IGNORED
from clearformer.text.tokenizer import build_tokenizer
from clearformer.training.judged import judged
from clearformer.training.masked_evaluation import masked_windows, scattered
from clearformer.training.masked_token import MaskedToken
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import model_for, prepare
from models.encoder.encoders import random_encoder
from models.learners import every_engine
from training.tiny import TEXT, corpus

BATCH = 7  # neither 2 nor 3 workers get equal parts


def ready(**dials):
    sizes = {"layers": 1, "heads": 2, "embed": 8, "context": 16}
    return prepare(
        corpus(),
        kind="characters",
        vocabulary=None,
        model=model_for(KINDS["encoder"], None, sizes | dials),
        options=TrainingOptions(batch=BATCH),
        fits=lambda _: None,
    )


def gradient_of(engine, workers, parts, ranks):
    """The loss and the gradient of the first batch, however it is shared out."""
    prepared = ready()
    objective, total, found = MaskedToken(prepared.model), 0.0, None
    for rank in range(ranks):
        learner = choose.learner_of(
            Execution(engine, workers=workers), random_encoder(prepared.model), objective.loss
        )
        arrays = objective.batches(prepared, TrainingOptions(batch=BATCH), rank, ranks).next()
        rows = len(arrays[0])
        cuts = [rows * n // parts for n in range(parts + 1)]
        for begin, end in pairwise(cuts):
            share = (end - begin) / BATCH
            total += share * learner.loss_and_gradients(
                *(array[begin:end] for array in arrays), share=share
            )
        learner.gather()
        mine = np.array(learner.to_array(learner.gradients))
        found = mine if found is None else found + mine
    return total, found


@every_engine
@pytest.mark.parametrize(
    ("workers", "parts", "ranks"), [(2, 1, 1), (3, 2, 1), (1, 3, 2), (2, 2, 3)]
)
def test_workers_parts_and_ranks_change_nothing(engine, workers, parts, ranks):
    wanted_loss, wanted = gradient_of("numpy", 1, 1, 1)
    loss, found = gradient_of(engine, workers, parts, ranks)
    assert loss == pytest.approx(wanted_loss, rel=1e-12)
    assert abs(wanted).max() > 1e-3
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 100, 101])
@pytest.mark.parametrize("passes", [1, 3, 7])
@pytest.mark.parametrize("rows", [1, 4])
def test_every_token_but_the_first_is_predicted_once(length, passes, rows):
    ids = np.arange(length, dtype=np.uint16)
    predicted = []
    for inputs, targets, counted in masked_windows(ids, 16, passes, 999, rows):
        chosen = targets != IGNORED
        assert chosen.sum() == counted > 0
        assert (inputs[chosen] == 999).all()
        assert (inputs[~chosen] != 999).all()
        predicted += targets[chosen].tolist()
    assert sorted(predicted) == list(range(1, length))


def test_no_more_is_masked_at_once_than_asked_for_and_not_in_a_row():
    positions = scattered(64, 7)
    assert all(len(part) <= 10 for part in positions)
    steps = {int(step) for part in positions for step in np.diff(part)}
    assert {1, 2, 3} < steps, "neighbours are masked together now and then, as in training"
    assert [p.tolist() for p in positions] == [p.tolist() for p in scattered(64, 7)]


def test_the_evaluation_is_the_mean_over_each_token_by_itself():
    prepared = ready()
    model, objective = random_encoder(prepared.model), MaskedToken(prepared.model)
    text = prepared.validation
    found = objective.evaluate(model, text)
    losses, right = [], 0
    for inputs, targets, _ in masked_windows(text.ids, 16, 7, prepared.model.mask, 1):
        logits = model(inputs)[0]
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        for place in np.flatnonzero(targets[0] != IGNORED):
            losses.append(-np.log(shares[place, targets[0, place]]))
            right += int(logits[place].argmax() == targets[0, place])
    assert found.tokens == len(text.ids) - 1 == len(losses)
    assert found.loss == pytest.approx(np.mean(losses), rel=1e-12)
    assert found.accuracy == right / len(losses)


def test_the_evaluation_is_the_same_over_threads_and_other_rows():
    prepared = ready()
    model, objective = random_encoder(prepared.model), MaskedToken(prepared.model)
    shares = []
    one = objective.evaluate(model, prepared.validation, progress=shares.append)
    other = objective.evaluate(
        model, prepared.validation, spread=lambda f, items: list(map(f, list(items)))
    )
    assert one == other
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_stride_is_refused():
    prepared = ready()
    with pytest.raises(ConfigurationError, match="sees both sides of each token; leave out stride"):
        MaskedToken(prepared.model).evaluate(None, prepared.validation, stride=4)


def test_a_model_that_knows_nothing_is_undecided_among_all_tokens():
    from clearformer.models.encoder.build import build_encoder

    prepared = ready()
    found = MaskedToken(prepared.model).evaluate(
        build_encoder(prepared.model, None), prepared.validation
    )
    assert found.perplexity == pytest.approx(prepared.model.vocabulary, rel=1e-6)


def test_a_text_of_one_token_cannot_be_judged():
    prepared = ready()
    tokenizer = build_tokenizer("characters", TEXT)
    with pytest.raises(TextError, match="at least 2 tokens; the text has 1"):
        MaskedToken(prepared.model).evaluate(random_encoder(prepared.model), judged(tokenizer, "t"))


def test_the_share_that_is_masked_is_a_dial():
    prepared = ready(masked=0.5)
    _, targets = MaskedToken(prepared.model).batches(prepared, TrainingOptions(batch=3)).next()
    assert (targets != IGNORED).mean() == 0.5
    assert replace(prepared.model, masked=0.5) == prepared.model


@pytest.mark.long
def test_the_loss_is_compiled_as_it_is():
    pytest.importorskip("torch", reason="compiling needs PyTorch (extra torch)")
    from clearformer.engines.torch.compiling import obstacle

    reason = obstacle("cpu")
    if reason:
        pytest.skip(reason)
    prepared = ready()
    objective = MaskedToken(prepared.model)
    arrays = objective.batches(prepared, TrainingOptions(batch=4)).next()
    losses = [
        choose.learner_of(
            Execution("torch", compiled=compiled),
            random_encoder(prepared.model, np.float32),
            objective.loss,
        ).loss_and_gradients(*arrays)
        for compiled in (False, True)
    ]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
