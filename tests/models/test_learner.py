"""The learner: however a batch is cut up, over threads or in time, the gradient is the same."""

from dataclasses import replace
from hashlib import sha256
from threading import Event
from time import sleep

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.dispatch import array_of
from clearformer.training.next_token import next_token_loss
from models.decoders import (
    VARIANTS,
    both_recipes,
    loss_and_gradients,
    random_decoder,
)
from models.learners import ROWS, batch, every_engine, gradients, learner_of

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

MODERN, CLASSIC = (VARIANTS[f"the {recipe} recipe"] for recipe in ("modern", "classic"))


@every_engine
@both_recipes
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2, ROWS])
def test_any_number_of_workers_finds_the_gradient_of_the_batch(engine, recipe, workers, rows):
    """Also more workers than rows: the last ones then have nothing to do."""
    configuration = VARIANTS[f"the {recipe} recipe"]
    inputs, targets = batch(configuration, rows)
    learner = learner_of(configuration, engine, workers=workers)
    wanted_loss, wanted = loss_and_gradients(random_decoder(configuration), inputs, targets)
    for _ in range(2):  # what the first round left behind must not be seen in the second
        loss = learner.loss_and_gradients(inputs, targets)
        norm = learner.gather()
        assert loss == pytest.approx(wanted_loss, rel=1e-12)
        found = gradients(learner)
        assert found.keys() == wanted.keys()
        for name, gradient in wanted.items():
            np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-12, err_msg=name)
        squares = sum(float((gradient**2).sum()) for gradient in wanted.values())
        assert norm == pytest.approx(np.sqrt(squares), rel=1e-12)


@every_engine
@both_recipes
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-6)])
@pytest.mark.parametrize("parts", [[4, 3], [1, 5, 1], [1] * 7])
def test_unequal_parts_add_up_to_the_whole_batch(engine, recipe, workers, dtype, tolerance, parts):
    configuration = VARIANTS[f"the {recipe} recipe"]
    arrays = batch(configuration)
    whole, piecewise = (learner_of(configuration, engine, dtype, workers) for _ in range(2))
    wanted = whole.loss_and_gradients(*arrays)
    whole.gather()
    loss, start = 0.0, 0
    for rows in parts:
        part = (array[start : start + rows] for array in arrays)
        loss += rows / ROWS * piecewise.loss_and_gradients(*part, share=rows / ROWS)
        start += rows
    piecewise.gather()
    assert loss == pytest.approx(wanted, rel=tolerance)
    found, expected = (array_of(each.gradients) for each in (piecewise, whole))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert abs(expected).max() > 0.01


def trained_bits(engine, workers, seed=5, **how):
    """A few steps with dropout and accumulation; the SHA-256 of what was learned."""
    configuration = replace(MODERN, dropout=0.2)
    learner = learner_of(configuration, engine, np.float32, workers, **how)
    first, second = learner.zeros(), learner.zeros()
    rngs = [np.random.default_rng([seed, number]) for number in range(workers)]
    inputs, targets = batch(configuration)
    with learner.running():
        for step in (1, 2, 3):
            for rows in (slice(0, 4), slice(4, 7)):
                share = len(inputs[rows]) / ROWS
                learner.loss_and_gradients(
                    inputs[rows], targets[rows], share=share, rngs=rngs.__getitem__
                )
            learner.gather()
            ops.adamw(
                learner.parameters,
                learner.gradients,
                first,
                second,
                step=step,
                learning_rate=0.01,
            )
    return sha256(array_of(learner.parameters).tobytes()).hexdigest()


@every_engine
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_seed_gives_the_same_bits(engine, workers):
    found = {trained_bits(engine, workers) for _ in range(3)}
    assert len(found) == 1
    assert trained_bits(engine, workers, seed=6) not in found


@every_engine
def test_the_model_reads_what_the_buffer_holds(engine):
    learner = learner_of(CLASSIC, engine, workers=2)
    arrays = batch(CLASSIC)
    whole = random_decoder(CLASSIC)
    np.testing.assert_allclose(array_of(learner.model(arrays[0])), whole(arrays[0]), 0, 1e-12)
    learner.parameters *= 0.5
    half = whole.with_parameters(lambda _, p: 0.5 * p)
    np.testing.assert_allclose(array_of(learner.model(arrays[0])), half(arrays[0]), 0, 1e-12)
    loss = learner.loss_and_gradients(*arrays)  # the workers read it, too
    assert loss == pytest.approx(loss_and_gradients(half, *arrays)[0], rel=1e-12)


@every_engine
def test_nothing_is_recorded_where_the_model_is_only_asked(engine):
    """An evaluation must not keep what a step would."""
    learner = learner_of(CLASSIC, engine)
    assert not getattr(learner.model(batch(CLASSIC)[0]), "requires_grad", False)


@every_engine
def test_the_given_model_is_not_touched(engine):
    from clearformer.engines.choose import learner_of as learner_from
    from clearformer.engines.execution import Execution

    model = random_decoder(CLASSIC)
    learner = learner_from(Execution(engine), model, next_token_loss)
    learner.parameters[:] = 0
    assert all(p.any() for p in model.parameters().values())


@every_engine
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_pieces_cover_every_number_once_and_mix_no_matrix_with_a_vector(engine, workers):
    learner = learner_of(CLASSIC, engine, workers=workers)
    covered = np.zeros(len(learner.parameters), int)
    for piece in learner.pieces:
        covered[piece] += 1
        assert piece.stop <= learner.matrices or piece.start >= learner.matrices
        assert learner.is_matrix(piece) == (piece.start < learner.matrices)
    assert (covered == 1).all()
    shapes = {name: tuple(p.shape) for name, p in learner.model.parameters().items()}
    matrices = sum(int(np.prod(shape)) for shape in shapes.values() if len(shape) > 1)
    assert matrices == learner.matrices < len(learner.parameters)


@every_engine
@pytest.mark.parametrize("workers", [1, 3])
def test_work_that_is_spread_comes_back_in_order(engine, workers):
    learner = learner_of(MODERN, engine, workers=workers)
    assert learner.spread(lambda x: x * x, iter(range(20))) == [x * x for x in range(20)]
    assert learner.spread(lambda x: x, []) == []


@every_engine
@pytest.mark.parametrize("row", [0, -1], ids=["the first worker", "the last worker"])
def test_a_mistake_in_a_worker_is_heard_and_leaves_the_learner_usable(engine, row):
    def loss(model, inputs, targets, rng=None):
        found = next_token_loss(model, inputs, abs(targets), rng)
        if (targets < 0).any():
            raise RuntimeError("a mistake")
        return found

    learner = learner_of(MODERN, engine, workers=2, loss=loss)
    inputs, targets = batch(MODERN)
    wrong = targets.copy()
    wrong[row] = -1
    with pytest.raises(RuntimeError, match="a mistake"):
        learner.loss_and_gradients(inputs, wrong)
    learner.gather()
    learner.loss_and_gradients(inputs, targets)
    learner.gather()
    _, wanted = loss_and_gradients(random_decoder(MODERN), inputs, targets)
    found = gradients(learner)
    for name, gradient in wanted.items():
        np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-12)


@every_engine
def test_after_a_mistake_nobody_goes_on_working(engine):
    failed, finished = Event(), Event()

    def loss(model, inputs, targets, rng=None):
        if (inputs == MODERN.vocabulary).any():
            failed.set()
            raise RuntimeError("a mistake")
        failed.wait(1)
        sleep(0.1)  # long enough for a learner that does not wait to be caught
        finished.set()
        return next_token_loss(model, inputs, targets, rng)

    inputs, targets = batch(MODERN)
    inputs[0] = MODERN.vocabulary
    with pytest.raises(RuntimeError, match="a mistake"):
        learner_of(MODERN, engine, workers=2, loss=loss).loss_and_gradients(inputs, targets)
    assert finished.is_set()
