"""How several processes end: when one is killed, when they are asked to, and what they open."""

import os
import random
import signal
import sys
import time

import pytest

import clearformer as cf
from clearformer.training import saves
from ranks.plans import MACHINE, write_texts
from ranks.sockets import listening, listening_beyond_loopback
from ranks.torchrun import is_alive, torchrun

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

SIZES = ["--layers", "1", "--heads", "2", "--embed", "8", "--context", "8", "--batch", "5",
         "--steps", "1000000", "--save-seconds", "0.3", "--evaluations", "1"]  # fmt: skip

BEGIN = ["train", "text.txt", *SIZES, *MACHINE]

GO_ON = ["train", "--resume"]

ALL_HAVE_ENDED = 30.0
"""Seconds after the end of one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endings")
    write_texts(folder)
    return folder


def newest_save(run):
    """The step of it; 0 if there is none."""
    return max((step for step, _ in saves.finished(run / "checkpoints")), default=0)


def after_a_save(ranks, folder, run, *arguments, then):
    """Trains until there is a new save, does something to the processes, and waits for the end."""
    before = newest_save(folder / run)
    arguments = [*arguments, "--out", run]
    with torchrun(ranks, "-m", "clearformer", *arguments, folder=folder) as started:
        started.until(lambda: newest_save(folder / run) > before)
        workers = started.workers()
        assert sorted(workers) == list(range(ranks))
        begun = time.monotonic()
        then(started, workers)
        status = started.end()
        took = time.monotonic() - begun
    assert status != 0
    assert took < ALL_HAVE_ENDED
    assert not [rank for rank, pid in workers.items() if is_alive(pid)]
    return started.told()


def goes_on(folder, run):
    """The run, trained for a few more steps by one process."""
    step = newest_save(folder / run)
    summary = cf.train(out=folder / run, resume=True, steps=step + 3).summary
    assert summary["steps"] == step + 3


def stop_with(number):
    return lambda started, workers: started.process.send_signal(number)


def kill(rank):
    return lambda started, workers: os.kill(workers[rank], signal.SIGKILL)


def names(rank, told):
    """Whether one line tells that this rank has ended, and nothing else is told."""
    return len(told) == 1 and told[0].startswith(f"clearformer: rank {rank} has ended")


@pytest.fixture(scope="module")
def stopped(folder):
    """A run stopped by SIGTERM to torchrun: what was told, and where its processes listened."""
    heard = []

    def look_and_stop(started, workers):
        for pid in workers.values():
            heard.append((listening(pid), listening_beyond_loopback(pid)))
        stop_with(signal.SIGTERM)(started, workers)

    return after_a_save(2, folder, "run", *BEGIN, then=look_and_stop), heard


def test_a_signal_to_torchrun_saves_and_ends_all(stopped, folder):
    step = newest_save(folder / "run")
    assert stopped[0] == [
        f"clearformer: stopped after step {step:,} and saved; go on with: torchrun "
        "--nproc-per-node 2 -m clearformer train --resume --out run"
    ]


def test_what_the_processes_open_is_on_loopback(stopped):
    for all_of_them, beyond in stopped[1]:
        assert all_of_them
        assert beyond == []


def test_when_a_rank_is_killed_all_end_it_is_named_and_the_run_goes_on(stopped, folder):
    told = after_a_save(2, folder, "run", *GO_ON, "--parallel", "shard", then=kill(0))
    assert names(0, told), told
    goes_on(folder, "run")


@pytest.mark.long
@pytest.mark.parametrize("parallel", ["replicate", "shard"])
@pytest.mark.parametrize("rank", range(4))
def test_any_rank_may_be_killed_at_any_moment(rank, parallel, folder):
    run, rng = f"killed-{rank}-{parallel}", random.Random(rank)
    after_a_save(4, folder, run, *BEGIN, "--parallel", parallel, then=stop_with(signal.SIGTERM))

    def kill_later(started, workers):
        time.sleep(rng.uniform(0, 1))
        kill(rank)(started, workers)

    for _ in range(7):  # 56 in all
        told = after_a_save(4, folder, run, *GO_ON, then=kill_later)
        assert names(rank, told), told
    goes_on(folder, run)


@pytest.mark.long
def test_ctrl_c_saves_and_ends_all(folder):
    told = after_a_save(4, folder, "ctrl-c", *BEGIN, then=stop_with(signal.SIGINT))
    assert len(told) == 1
    assert f"stopped after step {newest_save(folder / 'ctrl-c'):,} and saved" in told[0]


@pytest.mark.long
def test_where_torchrun_itself_is_killed_all_save_and_end(folder):
    def kill_torchrun(started, workers):
        started.process.kill()
        deadline = time.monotonic() + ALL_HAVE_ENDED
        while any(map(is_alive, workers.values())) and time.monotonic() < deadline:
            time.sleep(0.1)

    told = after_a_save(2, folder, "orphans", *BEGIN, then=kill_torchrun)
    assert len(told) == 1
    assert f"stopped after step {newest_save(folder / 'orphans'):,} and saved" in told[0]
