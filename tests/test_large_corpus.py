"""The benchmark of large corpora on little text: the memory of all processes does not grow."""

import os
import sys
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
BLOCK = 1 << 14
MIB = 1 << 20

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells the anonymous memory of a process"
)


@pytest.fixture
def benchmark(monkeypatch):
    """The script, imported as it imports its neighbours."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module("large_corpus")


@pytest.fixture
def script(benchmark):
    """Runs a part of the script in processes of its own; returns the most memory they held."""

    def run(*arguments):
        line = [str(FOLDER / "large_corpus.py"), *map(str, arguments)]
        _, watch, out = benchmark.watched(line, ())
        return watch.most, out

    return run


def test_preparing_and_training_take_no_more_memory_for_more_text(benchmark, script, tmp_path):
    """With pieces of 16 KiB in two processes; of each the least of three goes is taken.

    The same text takes up to 10 MiB more or less in another go; a copy and a half of what is added
    would show.
    """
    most = {}
    benchmark.write_text(tmp_path / "1.txt", MIB)
    (tmp_path / "12.txt").write_bytes((tmp_path / "1.txt").read_bytes() * 12)  # no other words
    for times in (1, 12):
        found = []
        for go in range(3):
            data, run = tmp_path / f"data-{times}-{go}", tmp_path / f"run-{times}-{go}"
            text = tmp_path / f"{times}.txt"
            prepared, _ = script("--prepare-here", text, data, "bytepair", BLOCK)
            trained, out = script("--train-here", data, run, "--steps", 40)
            assert '"steps_per_second"' in out
            found.append((prepared, trained))
        most[times] = [min(goes) for goes in zip(*found, strict=True)]
    for little, much in zip(most[1], most[12], strict=True):
        assert much < little + 16


def test_memory_of_a_family_is_that_of_all_its_processes(benchmark):
    own = benchmark.anonymous_memory(os.getpid())
    assert own > 1
    assert benchmark.anonymous_memory(1 << 30) == 0


def test_the_text_is_the_same_for_everybody(benchmark, tmp_path):
    for name in ("a", "b"):
        benchmark.write_text(tmp_path / name, 1000)
    text = (tmp_path / "a").read_text("utf-8")
    assert text == (tmp_path / "b").read_text("utf-8")
    assert text.startswith("1. ")
    assert len({word for line in text.splitlines() for word in line.split()}) > 3_000


def test_without_a_control_group_no_limit_is_claimed(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "GROUPS", tmp_path / "none")
    with benchmark.limited(512) as (enter, how):
        assert (enter, how) == ((), "no limit was set")
