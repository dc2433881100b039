"""Laws of truncated back-propagation: the state is carried, saved, and never mixed up."""

import json
from itertools import pairwise

import numpy as np
import pytest

import clearformer as cf
from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kinds import KINDS, build
from clearformer.models.recurrent.state import RecurrentState
from clearformer.ops import cross_entropy
from clearformer.training.carried import CarriedNextToken
from clearformer.training.evaluation import evaluate
from clearformer.training.judged import Judged
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared
from clearformer.training.streams import SHORTEST_STREAM, evaluate_streams, pieces
from models.recurrent.small import every_kind

SIZES = {"layers": 2, "embed": 6, "hidden": 5, "context": 4}


def configuration(kind="lstm", **dials):
    return KINDS[kind].configuration(9, **{**SIZES, **dials})


def random_model(one, seed=0):
    rng = np.random.default_rng(seed)
    return build(one, None, np.float32).with_parameters(
        lambda _, x: rng.standard_normal(x.shape, np.float32) / 2
    )


def objective_and_batches(one, batch=5, tokens=200, **ranks):
    objective = CarriedNextToken(one)
    ids = np.random.default_rng(1).integers(9, size=tokens)
    ready = Prepared(None, ids, judged(9), one, ())
    return objective, objective.batches(ready, TrainingOptions(batch=batch), **ranks)


def judged(tokens, seed=2):
    ids = np.random.default_rng(seed).integers(9, size=tokens).astype(np.uint8)
    return Judged(ids, max(tokens - 1, 0), {}, 0.0)


@every_kind
def test_the_states_after_several_windows_are_those_of_the_whole_text(kind):
    one = configuration(kind)
    model, (objective, batches) = random_model(one), objective_and_batches(one)
    read = []
    for _ in range(6):
        arrays = batches.next()
        read.append(arrays[0])
        objective.loss(model, *arrays, None)
    state = RecurrentState(2)
    model(np.concatenate(read, 1), state=state)
    for layer, states in enumerate(state.layers):
        for name, array in zip(one.states, states, strict=True):
            found = objective.carried()[f"layers.{layer}.{name}"]
            np.testing.assert_allclose(found, array, rtol=0, atol=1e-6)


def test_a_new_epoch_begins_with_nothing():
    one = configuration()
    model, (objective, batches) = random_model(one), objective_and_batches(one, tokens=70)
    seen = []
    while batches.epoch <= 1:
        arrays = batches.next()
        seen.append((arrays[3][0], float(objective.loss(model, *arrays, None)), arrays))
    assert [begins for begins, *_ in seen].count(True) == 2
    _, loss, (inputs, targets, *_) = seen[-1]
    assert loss == pytest.approx(float(cross_entropy(model(inputs), targets)), rel=1e-6)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
@pytest.mark.parametrize("workers", [1, 3])
def test_rows_keep_their_own_states_however_a_batch_is_split(engine, workers):
    if engine == "torch":
        pytest.importorskip("torch", reason="the engine torch needs PyTorch (extra torch)")
    one = configuration()
    results = []
    for threads, cuts in ((1, [0, 5]), (workers, [0, 1, 3, 5])):
        objective, batches = objective_and_batches(one)
        execution = Execution(engine, workers=threads)
        learner = learner_of(execution, random_model(one), objective.loss)
        losses = []
        for _ in range(4):
            arrays = batches.next()
            total = 0.0
            for begin, end in pairwise(cuts):
                part = [array[begin:end] for array in arrays]
                share = (end - begin) / 5
                total += share * learner.loss_and_gradients(*part, share=share)
            losses.append(total)
            losses.append(learner.gather())
        results.append((losses, objective.carried()))
    (whole, states), (split, others) = results
    assert split == pytest.approx(whole, rel=1e-5)
    for name, array in states.items():
        np.testing.assert_allclose(others[name], array, rtol=0, atol=1e-5)


def test_what_processes_carry_adds_up_to_what_one_carries():
    one, model = configuration(), random_model(configuration())
    objective, batches = objective_and_batches(one)
    ranks = [objective_and_batches(one, rank=rank, ranks=3) for rank in range(3)]
    for _ in range(3):
        objective.loss(model, *batches.next(), None)
        for each, part in ranks:
            each.loss(model, *part.next(), None)
    added = {name: sum(each.carried()[name] for each, _ in ranks) for name in objective.carried()}
    for each, _ in ranks:  # a save goes on in any of them
        each.carry_on(added)
    again = {name: sum(each.carried()[name] for each, _ in ranks) for name in added}
    for name, array in objective.carried().items():
        assert array.any()
        np.testing.assert_allclose(added[name], array, rtol=0, atol=1e-6)
        assert np.array_equal(again[name], added[name])


def test_states_of_another_model_or_batch_are_refused():
    objective, _ = objective_and_batches(configuration())
    for other in (configuration(hidden=6), configuration("gru"), configuration(layers=1)):
        with pytest.raises(ValueError, match="another model or batch"):
            objective.carry_on(objective_and_batches(other)[0].carried())
    with pytest.raises(ValueError, match="another model or batch"):
        objective.carry_on(objective_and_batches(configuration(), batch=4)[0].carried())
    with pytest.raises(ValueError, match="another model or batch"):
        objective.carry_on({})


@pytest.mark.parametrize("tokens", [2, 3, 17, SHORTEST_STREAM + 1, 3 * SHORTEST_STREAM + 9])
@pytest.mark.parametrize("rows", [1, 2, 32])
def test_streams_hold_every_position_once(tokens, rows):
    ids, seen = np.arange(tokens), []
    made = pieces(ids, rows)
    steps = {len(list(piece.windows(64))) for piece in made}
    for piece in made:
        for inputs, targets, counted in piece.windows(64):
            counts = targets != -100
            assert counts.sum() == counted
            assert (targets[counts] == inputs[counts] + 1).all()
            seen += targets[counts].tolist()
    assert sorted(seen) == list(range(1, tokens))
    assert len(steps) == 1  # where several processes share a model, all call it equally often


@every_kind
def test_an_evaluation_is_the_loss_of_each_stream_read_in_one_go(kind):
    one, text = configuration(kind), judged(3 * SHORTEST_STREAM + 9)
    model, total = random_model(one), 0.0
    for piece in pieces(text.ids, 32):
        for start, stop in zip(piece.starts, piece.stops, strict=True):
            part = text.ids[start : stop + 1].astype(np.intp)
            loss = cross_entropy(model(part[None, :-1]), part[None, 1:])
            total += float(loss) * int(stop - start)
    for window in (7, 64):
        found = evaluate_streams(model, text, layers=2, window=window)
        assert found.tokens == len(text) - 1
        assert found.loss == pytest.approx(total / found.tokens, rel=1e-5)


def test_a_short_text_is_one_stream_and_an_empty_one_is_refused():
    assert len(pieces(np.arange(500), 32)) == 1
    with pytest.raises(TextError, match="at least 2 tokens"):
        pieces(np.arange(1), 32)


def test_progress_ends_at_the_whole():
    told = []
    one = configuration()
    evaluate_streams(random_model(one), judged(300), layers=2, window=64, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_with_a_context_it_forgets_and_without_it_remembers():
    one = configuration()
    objective, model, text = CarriedNextToken(one), random_model(one), judged(300)
    remembered = objective.evaluate(model, text)
    assert objective.evaluate(model, text, context=300).loss == pytest.approx(
        remembered.loss, rel=1e-6
    )
    assert objective.evaluate(model, text, context=2).loss != pytest.approx(
        remembered.loss, rel=1e-4
    )


def test_what_forgets_forgets_less_where_its_windows_overlap():
    one = configuration()
    objective, model, text = CarriedNextToken(one), random_model(one), judged(300)
    halves = objective.evaluate(model, text, context=8, stride=4)
    expected = evaluate(model, text, context=8, stride=4)
    assert halves.loss == pytest.approx(expected.loss, rel=1e-6)
    with pytest.raises(ConfigurationError, match="give context with stride=4"):
        objective.evaluate(model, text, stride=4)


def test_the_log_shows_the_norm_before_and_after_clipping(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat; the dog ran to the cat. " * 12, "utf-8")
    cf.train(text, out=tmp_path / "run", model="rnn", **SIZES, batch=4, steps=30, clip=0.3)
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    norms = [
        (line["gradient_norm"], line["clipped_norm"]) for line in lines if "train_loss" in line
    ]
    assert all(after == min(before, 0.3) for before, after in norms)
    assert any(before > 0.3 for before, _ in norms)
