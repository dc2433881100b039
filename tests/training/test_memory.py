"""Laws of the estimate of memory: exact integers, quick, and refused before any allocation."""

import tracemalloc
from dataclasses import replace

import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kind import LARGEST
from clearformer.training import memory
from clearformer.training.memory import in_words, machine_bytes, require_memory, training_bytes
from clearformer.training.options import TrainingOptions
from training import tiny

SMALL = ModelConfiguration(65)


@pytest.mark.parametrize(
    "larger", [{"vocabulary": 650}, {"layers": 5}, {"embed": 256}, {"context": 65}, {"hidden": 999}]
)
def test_every_size_counts(larger):
    assert training_bytes(replace(SMALL, **larger), 12, 2) > training_bytes(SMALL, 12, 2)


def test_batch_and_workers_count():
    assert training_bytes(SMALL, 13, 2) > training_bytes(SMALL, 12, 2)
    assert training_bytes(SMALL, 12, 3) > training_bytes(SMALL, 12, 2)


def test_absurd_sizes_are_counted_in_exact_integers():
    """The product of these wraps around to a small number in 64 bits."""
    huge = ModelConfiguration(LARGEST, layers=LARGEST, embed=LARGEST, context=LARGEST)
    assert training_bytes(huge, LARGEST, 1) > 4 * LARGEST**4


@pytest.mark.parametrize("recipe", ["modern", "classic"])
def test_it_is_enough_and_not_far_too_much(recipe):
    """The arrays of a real step, counted by Python, against the estimate."""
    ready = tiny.prepared(recipe=recipe, layers=2, embed=32, heads=4, context=32)
    tiny.loop(ready, batch=8).one_step()  # what is imported and cached counts for nothing
    tracemalloc.start()
    training = tiny.loop(ready, batch=8)
    training.one_step()
    tracemalloc.reset_peak()
    training.one_step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 <= training_bytes(ready.model, 8, 1) / peak < 2.5


def test_what_cannot_fit_is_refused_with_both_numbers_and_nothing_allocated(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 8 * 1024**3)
    huge = ModelConfiguration(100, layers=1000, embed=10_000_000)
    tracemalloc.start()
    with pytest.raises(ConfigurationError) as caught:
        require_memory(huge, 12, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    message = str(caught.value)
    assert in_words(training_bytes(huge, 12, 2)) in message
    assert "8.0 GiB" in message
    assert "layers=1000" in message
    assert "embed=10000000" in message
    assert "\n" not in message


def test_the_refusal_names_every_size_that_could_be_to_blame(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 1024**3)
    with pytest.raises(ConfigurationError) as caught:
        require_memory(replace(SMALL, hidden=2**30), 12, 10**6)
    assert "hidden=1073741824" in str(caught.value)
    assert "workers=1000000" in str(caught.value)


def test_what_fits_is_let_through(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: training_bytes(SMALL, 12, 2))
    require_memory(SMALL, 12, 2)


def test_where_the_system_does_not_tell_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: None)
    require_memory(ModelConfiguration(100, layers=1000, embed=10_000_000), 12, 2)


def test_the_memory_of_this_machine_is_plausible():
    there = machine_bytes()
    assert there is None or 2**27 < there < 2**50


@pytest.mark.parametrize(
    "number, words",
    [
        (0, "0 bytes"),
        (1, "1 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (2**30, "1.0 GiB"),
        (2**60, "1.0 EiB"),
        (2**80, "1,048,576.0 EiB"),
    ],
)
def test_bytes_in_words(number, words):
    assert in_words(number) == words


def test_a_batch_in_parts_needs_the_memory_of_one_part(monkeypatch):
    """Accumulation is there to save memory: what fits in parts is not refused."""
    sizes = tiny.prepared().model
    monkeypatch.setattr(memory, "machine_bytes", lambda: training_bytes(sizes, 10_000, 1, 10))
    tiny.prepared(options=TrainingOptions(batch=10_000, accumulation=10))
    for parts in (1, 9):
        with pytest.raises(ConfigurationError, match="of memory to train"):
            tiny.prepared(options=TrainingOptions(batch=10_000, accumulation=parts))
