"""The learner: however a batch is cut up, over threads or in time, the gradient is the same."""

from dataclasses import replace
from hashlib import sha256
from threading import Event
from time import sleep

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.numpy.learner import Learner
from clearformer.training.objective import next_token_loss
from models.decoders import (
    VARIANTS,
    both_recipes,
    loss_and_gradients,
    random_decoder,
    random_ids,
)

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

ROWS = 7  # neither 2 nor 3 workers get equal parts


def batch(configuration, rows=ROWS):
    return tuple(random_ids(configuration, rows, 6, seed=seed) for seed in (1, 2))


def learner_of(configuration, dtype=np.float64, workers=1):
    return Learner(random_decoder(configuration, dtype), next_token_loss, workers)


@both_recipes
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2, ROWS])
def test_any_number_of_workers_finds_the_gradient_of_the_batch(recipe, workers, rows):
    """Also more workers than rows: the last ones then have nothing to do."""
    configuration = VARIANTS[f"the {recipe} recipe"]
    inputs, targets = batch(configuration, rows)
    learner = learner_of(configuration, workers=workers)
    wanted_loss, wanted = loss_and_gradients(random_decoder(configuration), inputs, targets)
    for _ in range(2):  # what the first round left behind must not be seen in the second
        loss = learner.loss_and_gradients(inputs, targets)
        norm = learner.gather()
        assert loss == pytest.approx(wanted_loss, rel=1e-12)
        found = learner.named(learner.gradients)
        assert found.keys() == wanted.keys()
        for name, gradient in wanted.items():
            np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-12, err_msg=name)
        squares = sum(float((gradient**2).sum()) for gradient in wanted.values())
        assert norm == pytest.approx(np.sqrt(squares), rel=1e-12)


@both_recipes
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 1e-6)])
@pytest.mark.parametrize("parts", [[4, 3], [1, 5, 1], [1] * 7])
def test_unequal_parts_add_up_to_the_whole_batch(recipe, workers, dtype, tolerance, parts):
    configuration = VARIANTS[f"the {recipe} recipe"]
    arrays = batch(configuration)
    whole, piecewise = (learner_of(configuration, dtype, workers) for _ in range(2))
    wanted = whole.loss_and_gradients(*arrays)
    whole.gather()
    loss, start = 0.0, 0
    for rows in parts:
        part = (array[start : start + rows] for array in arrays)
        loss += rows / ROWS * piecewise.loss_and_gradients(*part, share=rows / ROWS)
        start += rows
    piecewise.gather()
    assert loss == pytest.approx(wanted, rel=tolerance)
    np.testing.assert_allclose(piecewise.gradients, whole.gradients, rtol=0, atol=tolerance)
    assert abs(whole.gradients).max() > 0.01


def trained_bits(workers, seed=5):
    """A few steps with dropout and accumulation; the SHA-256 of what was learned."""
    configuration = replace(VARIANTS["the modern recipe"], dropout=0.2)
    learner = learner_of(configuration, np.float32, workers)
    first, second = np.zeros((2, len(learner.parameters)), np.float32)
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
    return sha256(learner.parameters.tobytes()).hexdigest()


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_same_seed_gives_the_same_bits(workers):
    assert trained_bits(workers) == trained_bits(workers)
    assert trained_bits(workers) != trained_bits(workers, seed=6)


def test_the_model_reads_what_the_buffer_holds():
    configuration = VARIANTS["the classic recipe"]
    learner = learner_of(configuration, workers=2)
    ids, _ = batch(configuration)
    assert (learner.model(ids) == random_decoder(configuration)(ids)).all()
    learner.parameters *= 0.5
    half = random_decoder(configuration).with_parameters(lambda _, p: 0.5 * p)
    assert (learner.model(ids) == half(ids)).all()
    loss = learner.loss_and_gradients(*batch(configuration))  # the workers read it, too
    assert loss == pytest.approx(loss_and_gradients(half, *batch(configuration))[0], rel=1e-12)


def test_the_given_model_is_not_touched():
    configuration = VARIANTS["the classic recipe"]
    model = random_decoder(configuration)
    learner = Learner(model, next_token_loss)
    learner.parameters[:] = 0
    assert all(p.any() for p in model.parameters().values())


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_pieces_cover_every_number_once_and_mix_no_matrix_with_a_vector(workers):
    learner = learner_of(VARIANTS["the classic recipe"], workers=workers)
    covered = np.zeros(len(learner.parameters), int)
    for piece in learner.pieces:
        covered[piece] += 1
        assert piece.stop <= learner.matrices or piece.start >= learner.matrices
    assert (covered == 1).all()
    shapes = {name: p.shape for name, p in learner.model.parameters().items()}
    matrices = sum(int(np.prod(shape)) for shape in shapes.values() if len(shape) > 1)
    assert matrices == learner.matrices < len(learner.parameters)


@pytest.mark.parametrize("workers", [1, 3])
def test_work_that_is_spread_comes_back_in_order(workers):
    learner = learner_of(VARIANTS["the modern recipe"], workers=workers)
    assert learner.spread(lambda x: x * x, iter(range(20))) == [x * x for x in range(20)]
    assert learner.spread(lambda x: x, []) == []


@pytest.mark.parametrize("row", [0, -1], ids=["the first worker", "the last worker"])
def test_a_mistake_in_a_worker_is_heard_and_leaves_the_learner_usable(row):
    configuration = VARIANTS["the modern recipe"]

    def loss(model, inputs, targets, rng=None):
        found = next_token_loss(model, inputs, abs(targets), rng)
        if (targets < 0).any():
            raise RuntimeError("a mistake")
        return found

    learner = Learner(random_decoder(configuration), loss, 2)
    inputs, targets = batch(configuration)
    wrong = targets.copy()
    wrong[row] = -1
    with pytest.raises(RuntimeError, match="a mistake"):
        learner.loss_and_gradients(inputs, wrong)
    learner.gather()
    learner.loss_and_gradients(inputs, targets)
    learner.gather()
    _, gradients = loss_and_gradients(random_decoder(configuration), inputs, targets)
    found = learner.named(learner.gradients)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-12)


def test_after_a_mistake_nobody_goes_on_working():
    configuration = VARIANTS["the modern recipe"]
    failed, finished = Event(), Event()

    def loss(model, inputs, targets, rng=None):
        if (inputs == configuration.vocabulary).any():
            failed.set()
            raise RuntimeError("a mistake")
        failed.wait(1)
        sleep(0.1)  # long enough for a learner that does not wait to be caught
        finished.set()
        return next_token_loss(model, inputs, targets, rng)

    inputs, targets = batch(configuration)
    inputs[0] = configuration.vocabulary
    with pytest.raises(RuntimeError, match="a mistake"):
        Learner(random_decoder(configuration), loss, 2).loss_and_gradients(inputs, targets)
    assert finished.is_set()
