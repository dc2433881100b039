"""A guard on speed where time is too noisy: counted, the work of small models is not more.

Whoever makes it less, or has a good reason for more, runs `python benchmarks/counted_work.py
--record` and says why in docs/log.md.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from documents import run_python

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or sys.implementation.name != "cpython",
    reason="what is recorded was counted with CPython on Linux",
)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Counted in a process of its own, in which no test checks shapes."""
    done = run_python([str(FOLDER / "counted_work.py"), "--json"], tmp_path_factory.mktemp("work"))
    return json.loads(done.stdout)


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("counted_work")


def test_no_work_has_become_more_by_over_15_percent(counts, script):
    recorded = json.loads(script.RECORD.read_text("utf-8"))
    assert recorded.keys() == counts.keys()
    assert list(script.losses(counts, recorded)) == []


def test_byte_pairs_of_one_letter_take_work_by_the_piece(counts):
    """Not by the square of the length: few calls, and little memory beyond the text."""
    for name in ("byte pairs of 40 kB of one letter", "byte pairs of 40 kB in two letters"):
        assert counts[name]["calls"] < 1000
        assert counts[name]["most_bytes"] < 16 * 40_000


def test_a_loss_is_told_with_its_numbers(script):
    before = {"a step": {"calls": 100, "bytes": 1000}}
    assert list(script.losses({"a step": {"calls": 115, "bytes": 500}}, before)) == []
    told = list(script.losses({"a step": {"calls": 116, "bytes": 1000}}, before))
    assert told == ["a step: 116 calls; 100 recorded (1.16 times)"]


def test_every_array_is_counted_with_its_bytes(script):
    from allocations import counting

    with counting() as found:
        np.empty(1000) + 1.0
        kept = np.zeros((10, 100), np.float32)
    assert (found.arrays, found.bytes) >= (3, 8000 + 8000 + 4000)
    with counting() as nothing:
        pass
    assert (nothing.arrays, nothing.bytes) == (0, 0)
    del kept  # by the allocator that made it


def test_calls_and_records_are_those_of_the_package(script):
    counted = script.counted(lambda: sorted([2, 1]))
    assert (counted["calls"], counted["records"]) == (0, 0)
