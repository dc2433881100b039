"""Threads that share a batch: as many as have enough to do."""

from dataclasses import replace
from unittest.mock import patch

import pytest

from clearformer.engines import threads
from clearformer.engines.shared import copies_work
from clearformer.models.configuration import SIZES, ModelConfiguration
from clearformer.models.recurrent.configuration import GRUConfiguration, RNNConfiguration
from clearformer.runs import workers
from clearformer.runs.workers import workers_for
from clearformer.training.options import TrainingOptions

TINY, SMALL, MEDIUM = (
    ModelConfiguration(65, **SIZES[size]) for size in ("tiny", "small", "medium")
)


@pytest.fixture(autouse=True)
def four_processors():
    with patch.object(threads, "processors", return_value=4):
        yield


@pytest.fixture
def threads_alone():
    """As on systems where there can be no copies of a process."""
    with patch.object(workers, "copies_work", return_value=False):
        yield


def test_those_that_are_asked_for_are_taken():
    assert workers_for(TrainingOptions(workers=3), TINY) == 3


@pytest.mark.parametrize(
    ("model", "number"),
    [(TINY, 1), (SMALL, 4), (MEDIUM, 4), (RNNConfiguration(65, embed=32), 1)],
    ids=["tiny", "small", "medium", "rnn"],
)
@pytest.mark.usefixtures("threads_alone")
def test_a_small_step_is_not_shared_by_threads(model, number):
    assert workers_for(TrainingOptions(), model) == number


@pytest.mark.skipif(not copies_work(), reason="processes are copied on Linux alone")
def test_processes_share_smaller_steps():
    """But not those of a few rows; and PyTorch has threads."""
    assert workers_for(TrainingOptions(), TINY) == 4
    assert workers_for(TrainingOptions(batch=3), TINY) == 1
    assert workers_for(TrainingOptions(), TINY, "torch") == 1
    gru = GRUConfiguration(65, embed=64, hidden=128, layers=1)
    assert workers_for(TrainingOptions(), gru) == 4


@pytest.mark.usefixtures("threads_alone")
def test_a_larger_batch_is():
    found = [workers_for(TrainingOptions(batch=batch), TINY) for batch in (12, 24, 48, 96, 960)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (1, 4)


def test_no_thread_is_without_a_row():
    assert workers_for(TrainingOptions(batch=2), MEDIUM) == 2
    assert workers_for(TrainingOptions(batch=12, accumulation=4), MEDIUM) == 3


@pytest.mark.usefixtures("threads_alone")
def test_parts_of_a_batch_count_as_what_they_are():
    whole = TrainingOptions(batch=48)
    assert workers_for(whole, TINY) > workers_for(replace(whole, accumulation=4), TINY) == 1


@pytest.mark.usefixtures("threads_alone")
def test_a_gru_needs_more_to_share_than_another():
    options, sizes = TrainingOptions(), {"embed": 64, "hidden": 128, "layers": 1}
    assert workers_for(options, GRUConfiguration(65, **sizes)) == 1
    assert GRUConfiguration.worth_a_thread > RNNConfiguration.worth_a_thread
