"""Laws of the stacks of a learner: views that hold each matrix once, and all else beside them."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from clearformer.engines.stacks import others, stacks_of
from models.decoders import VARIANTS, every_variant
from models.learners import every_engine, learner_of

LAYOUT = {
    "table": (0, 6, (3, 2)),
    "a": (6, 10, (2, 2)),
    "b": (10, 14, (2, 2)),
    "wide": (14, 20, (2, 3)),
    "c": (20, 24, (2, 2)),
    "gain": (24, 26, (2,)),
}


def test_neighbours_of_one_shape_are_one_stack_and_the_largest_comes_first():
    found = stacks_of(LAYOUT, ("a", "b", "wide", "c"))
    assert [(stack.piece, stack.shape) for stack in found] == [
        (slice(6, 14), (2, 2, 2)),
        (slice(14, 20), (1, 2, 3)),
        (slice(20, 24), (1, 2, 2)),
    ]
    assert list(others(found, (0, 24, 26))) == [slice(0, 6), slice(24, 26)]


def test_a_matrix_between_two_others_parts_them():
    found = stacks_of(LAYOUT | {"b": (10, 14, (4, 1))}, ("a", "wide", "c"))
    assert [stack.shape for stack in found] == [(1, 2, 3), (1, 2, 2), (1, 2, 2)]
    assert list(others(found, (0, 24, 26))) == [slice(0, 6), slice(10, 14), slice(24, 26)]


def test_without_matrices_everything_is_beside_them():
    assert stacks_of(LAYOUT, ()) == ()
    assert list(others((), (0, 24, 26))) == [slice(0, 24), slice(24, 26)]


@every_engine
@every_variant
def test_a_learner_has_each_number_in_one_stack_or_beside_them(configuration, engine):
    learner = learner_of(configuration, engine)
    learner.parameters[:] = learner.buffer(np.arange(len(learner.parameters), dtype=np.float64))
    pieces = [stack.piece for stack in learner.stacks] + learner.others
    met = np.concatenate([np.asarray(learner.parameters[piece]) for piece in pieces])
    np.testing.assert_array_equal(np.sort(met), np.arange(len(met)))
    hidden = {
        matrix.tobytes()
        for stack in learner.stacks
        for matrix in np.asarray(learner.whole(stack, learner.parameters[stack.piece]))
    }
    named = learner.named(learner.parameters)
    assert hidden == {named[name].tobytes() for name in learner.hidden}
    for piece in learner.others:
        inside = (piece.start < learner.matrices) == (piece.stop <= learner.matrices)
        assert inside, "a piece holds both matrices and vectors"


@every_engine
def test_what_is_made_of_a_whole_goes_back_into_its_place(engine):
    learner = learner_of(VARIANTS["the modern recipe"], engine)
    for stack in learner.stacks:
        part = learner.parameters[stack.piece]
        assert (learner.mine(stack, learner.whole(stack, part)) == part).all()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_each_job_is_done_once(workers):
    learner = learner_of(replace(VARIANTS["the modern recipe"], layers=1), workers=workers)
    done = []
    learner.work_through([lambda number=number: done.append(number) for number in range(50)])
    assert sorted(done) == list(range(50))
    learner.work_through([])


def test_threads_share_the_jobs(monkeypatch):
    """Each of two waits for the other, which no single thread could do."""
    monkeypatch.setattr("clearformer.engines.numpy.learner.FEW", 0)
    learner = learner_of(replace(VARIANTS["the modern recipe"], layers=1), workers=2)
    meeting = threading.Barrier(2, timeout=60)
    learner.work_through([meeting.wait, meeting.wait])


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_job_raises_is_raised(workers):
    learner = learner_of(replace(VARIANTS["the modern recipe"], layers=1), workers=workers)

    def fail():
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        learner.work_through([fail, *[lambda: None] * 3])
