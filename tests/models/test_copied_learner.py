"""Workers that are copies of the process compute what threads do, to the last bit."""

import gc
import os
import signal
import weakref
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest

from clearformer.engines import learner as learner_module
from clearformer.engines.choose import learner_of as learner_from
from clearformer.engines.copied import Copied
from clearformer.engines.execution import Execution
from clearformer.engines.numpy import learner as numpy_learner
from clearformer.engines.numpy.learner import FEW, _shared_out
from clearformer.engines.shared import copies_work
from clearformer.errors import ShapeError
from clearformer.training.next_token import next_token_loss
from models.decoders import VARIANTS, random_decoder
from models.learners import batch, learner_of
from training import tiny
from training.test_carried import configuration, objective_and_batches, random_model

pytestmark = [
    pytest.mark.usefixtures("unchecked"),
    pytest.mark.skipif(not copies_work(), reason="processes are copied on Linux alone"),
]

MODERN = VARIANTS["the modern recipe"]


@pytest.fixture
def copies(monkeypatch):
    """The processes that are made meanwhile."""
    made, right = [], Copied.__enter__

    def enter(copy):
        right(copy)
        made.append(copy._process)
        return copy

    monkeypatch.setattr(Copied, "__enter__", enter)
    return made


def without_copies(monkeypatch):
    monkeypatch.setattr(numpy_learner, "copies_work", lambda: False)


def trained(copies=None, kill_after=None, **options):
    """SHA-256 of all that a few steps have come to."""
    training = tiny.loop(tiny.prepared(dropout=0.2), steps=8, batch=7, accumulation=2, **options)
    with training.learner.running():
        for step in range(8):
            training.one_step()
            if step == kill_after:
                for process in copies:
                    os.kill(process, signal.SIGKILL)
    return tiny.state_of(training)


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("workers", [2, 3])
def test_they_learn_the_same_as_threads(monkeypatch, copies, workers, optimizer):
    how = {"workers": workers, "optimizer": optimizer}
    found = trained(**how)
    assert len(set(copies)) == workers - 1
    without_copies(monkeypatch)
    assert trained(**how) == found
    assert len(copies) == workers - 1


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
@pytest.mark.parametrize("kill_after", [0, 5])
def test_where_they_are_killed_threads_go_on_with_the_same(copies, optimizer, kill_after):
    how = {"workers": 3, "optimizer": optimizer}
    found = trained(**how)
    copies.clear()
    assert trained(copies, kill_after, **how) == found


def test_one_that_is_killed_at_work_is_made_up_for(copies):
    learner = learner_of(MODERN, workers=2)
    inputs, targets = batch(MODERN)

    def gradients_with(kill):
        answer = learner.begin

        def begin(worker, job):
            later = answer(worker, job)
            kill()
            return later

        learner.begin = begin
        loss = learner.loss_and_gradients(inputs, targets)
        learner.begin = answer
        return loss, learner.gather(), learner.gradients.tobytes()

    wanted = gradients_with(lambda: None)
    with learner.running():
        assert gradients_with(lambda: None) == wanted
        assert gradients_with(lambda: os.kill(copies[0], signal.SIGKILL)) == wanted
        assert gradients_with(lambda: None) == wanted


def killed_in(worker_run, after):
    """A `run_into` that a copy survives twice and not again, after so much of it.

    At first no state has been carried yet.
    """
    parent, calls = os.getpid(), []

    def run_into(worker, place, *rest):
        calls.append(place)
        if os.getpid() == parent or len(calls) <= 2:
            return worker_run(worker, place, *rest)
        if after == "all":
            worker_run(worker, place, *rest)
        else:
            place.gradients[: len(place.gradients) // 2] += 1
        os.kill(os.getpid(), signal.SIGKILL)

    return run_into


@pytest.mark.parametrize("after", ["half", "all"])
@pytest.mark.parametrize("parts", [1, 2])
def test_what_a_copy_left_half_done_is_not_seen(monkeypatch, after, parts):
    """Neither in gradients that parts of a batch add up in, nor in states that are carried."""
    ends = []
    for killed in (False, True):
        objective, batches = objective_and_batches(configuration())
        learner = learner_from(Execution(workers=2), random_model(configuration()), objective.loss)
        if killed:
            right = numpy_learner._Worker.run_into
            monkeypatch.setattr(numpy_learner._Worker, "run_into", killed_in(right, after))
        told = []
        with learner.running():
            for _ in range(4):
                arrays = batches.next()
                cuts = [5 * n // parts for n in range(parts + 1)]
                for begin, end in pairwise(cuts):
                    part = [array[begin:end] for array in arrays]
                    told.append(learner.loss_and_gradients(*part, share=(end - begin) / 5))
                told.append(learner.gather())
        ends.append((told, learner.gradients.tobytes(), tiny.digest(objective.carried())))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_workers_without_a_row_leave_nothing_behind(rows):
    learner = learner_of(MODERN, workers=3)
    arrays = batch(MODERN, rows)
    found = []
    for place in (nullcontext(), learner.running()):
        with place:
            learner.loss_and_gradients(*batch(MODERN, 7))
            learner.gather()
            loss = learner.loss_and_gradients(*arrays)
            found.append((loss, learner.gather(), learner.gradients.tobytes()))
    assert found[0] == found[1]


def test_they_read_what_the_parent_writes():
    learner = learner_of(MODERN, workers=2)
    arrays = batch(MODERN)
    with learner.running():
        before = learner.loss_and_gradients(*arrays)
        learner.gather()
        learner.parameters *= 0.5
        after = learner.loss_and_gradients(*arrays)
        norm = learner.gather()
    assert abs(before - after) > 1e-3
    assert learner.loss_and_gradients(*arrays) == after
    assert learner.gather() == norm


def test_generators_go_on_as_if_they_had_drawn_here():
    ends = []
    for place in (nullcontext, None):
        learner = learner_from(
            Execution(workers=2), random_decoder(tiny.prepared(dropout=0.5).model), next_token_loss
        )
        rngs = [np.random.default_rng(number) for number in range(2)]
        with place() if place else learner.running():
            inputs = np.zeros((4, 6), np.int64)
            for _ in range(2):
                learner.loss_and_gradients(inputs, inputs, rngs=rngs.__getitem__)
                learner.gather()
        ends.append([rng.random() for rng in rngs])
    assert ends[0] == ends[1]


def test_what_recurrent_models_carry_comes_back(copies):
    ends = []
    for inside in (False, True):
        objective, batches = objective_and_batches(configuration())
        learner = learner_from(Execution(workers=3), random_model(configuration()), objective.loss)
        with learner.running() if inside else nullcontext():
            told = []
            for _ in range(4):
                told.append((learner.loss_and_gradients(*batches.next()), learner.gather()))
        ends.append((told, tiny.digest(objective.carried())))
    assert len(copies) == 2
    assert ends[0] == ends[1]


def test_a_mistake_is_told_as_without_them():
    learner = learner_of(MODERN, workers=2)
    inputs, targets = batch(MODERN)
    wrong = inputs.copy()
    wrong[-1] = MODERN.vocabulary  # the share of the copy
    with learner.running():
        with pytest.raises(ShapeError, match="ids must be"):
            learner.loss_and_gradients(wrong, targets)
        learner.gather()
        found = learner.loss_and_gradients(inputs, targets), learner.gather()
    assert (learner.loss_and_gradients(inputs, targets), learner.gather()) == found


def test_who_is_inside_twice_has_them_once(copies):
    learner = learner_of(MODERN, workers=2)
    with learner.running(), learner.running():
        learner.loss_and_gradients(*batch(MODERN))
    assert len(copies) == 1


def test_a_learner_is_gone_when_nobody_has_it_any_more():
    """Also without a search for what holds each other: its buffers are large."""
    training = tiny.loop(workers=2, optimizer="muon", steps=3)
    with training.learner.running():
        training.one_step()
    gone = [weakref.ref(each) for each in (training.learner, training.optimizer)]
    gc.disable()
    try:
        del training
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("costs", "workers", "wanted"),
    [
        ([], 2, [[], []]),
        ([5], 2, [[0], []]),
        ([1, 4, 2, 3], 2, [[1, 0], [3, 2]]),
        ([1, 1, 1, 1], 3, [[0, 3], [1], [2]]),
    ],
)
def test_the_dearest_pieces_are_given_first(costs, workers, wanted):
    assert _shared_out(costs, workers) == wanted


def test_a_model_of_many_numbers_is_moved_by_threads(monkeypatch):
    found, shared_out, right = [], [], learner_module.Learner._in_parallel

    def in_parallel(learner, function, items):
        shared_out.append(function)
        return right(learner, function, items)

    monkeypatch.setattr(learner_module.Learner, "_in_parallel", in_parallel)
    for few, often in ((FEW, False), (0, True)):
        monkeypatch.setattr(numpy_learner, "FEW", few)
        found.append([trained(workers=2, optimizer=kind) for kind in ("adamw", "muon")])
        assert bool(shared_out) is often
    assert found[0] == found[1]


def test_a_narrow_lstm_is_split_by_rows(monkeypatch):
    """Which threads compute in one piece, since each of its steps is short."""
    monkeypatch.setenv("CLEARFORMER_COMPILED", "never")
    model = random_model(configuration())
    assert model.in_one_piece
    objective, _ = objective_and_batches(configuration())
    assert len(learner_from(Execution(workers=3), model, objective.loss)._workers) == 3
    without_copies(monkeypatch)
    assert len(learner_from(Execution(workers=3), model, objective.loss)._workers) == 1
