"""Laws of one folder: of many that start there one trains, the others name it; its end frees it."""

import multiprocessing
import os
import signal
import sys
import time

import pytest

from clearformer.errors import RunError
from clearformer.training.checkpoint import latest_model, load_latest
from clearformer.training.lock import RunLock, holder_of
from faults.children import wait_until
from faults.counts import few_or_all
from faults.programs import hold_and_fork, save_for_ever, together
from faults.tiny import flags, leftovers, require_intact

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")

MANY = 8


def race(child, arguments):
    """Starts many at the same moment; returns the one that runs, after all others have ended."""
    go = multiprocessing.get_context("forkserver").Event()
    racers = [child(together, go, arguments) for _ in range(MANY)]
    go.set()
    wait_until(lambda: sum(racer.is_alive() for racer in racers) <= 1)
    running = [racer for racer in racers if racer.is_alive()]
    assert len(running) == 1, [racer.told() for racer in racers]
    for racer in racers:
        if racer is not running[0]:
            assert racer.end() == 2
            line = racer.told().splitlines()[-1]
            assert line.startswith("clearformer: ")
            assert f"in use by process {running[0].pid} on" in line or (
                f"found process {running[0].pid} on" in line
            )
    return running[0]


@few_or_all("rounds", 5, 100)
def test_of_eight_that_start_at_once_one_trains_and_its_death_frees_the_folder(
    tmp_path, text_file, child, rounds
):
    begin = ["train", str(text_file), *flags(steps=10**7), "--save-seconds", "0.05", "--out"]
    for number in range(rounds):
        run = tmp_path / str(number)
        arguments = [*begin, str(run)]
        for _ in range(2):  # a new run, then the same one gone on with
            winner = race(child, arguments)
            wait_until(lambda: any((run / "checkpoints").glob("step-??????")), winner)  # noqa: B023
            assert holder_of(run).pid == winner.pid
            winner.kill()
            assert holder_of(run) is None
            assert str(winner.pid) in (run / "lock").read_text("utf-8")
            arguments = ["train", "--resume", "--out", str(run)]
        assert load_latest(run / "checkpoints").notes == ()


@few_or_all("turns", 200, 5000)
def test_who_reads_beside_a_run_that_saves_always_finds_a_whole_model(tmp_path, child, turns):
    """Saves come every few milliseconds here, so they are often rotated away while being read."""
    folder = tmp_path / "checkpoints"
    saving = child(save_for_ever, folder, tmp_path / "reported", 0.005)
    wait_until(lambda: any(folder.glob("step-??????")), saving)
    newest = 0
    for _ in range(turns):
        latest = load_latest(folder)
        require_intact(latest, latest.step)
        assert latest.step >= newest
        newest = latest_model(folder).step
    assert saving.is_alive(), saving.told()


def test_a_lock_ends_with_its_holder_even_where_a_child_of_it_lives_on(tmp_path, child):
    holding = child(hold_and_fork, tmp_path)
    wait_until((tmp_path / "forked").exists, holding)
    with pytest.raises(RunError, match=f"found process {holding.pid} on"):
        RunLock(tmp_path).__enter__()
    orphan = int((tmp_path / "forked").read_text())
    os.kill(holding.pid, signal.SIGKILL)
    holding.kill()
    os.kill(orphan, 0)  # it lives
    with RunLock(tmp_path):
        assert holder_of(tmp_path).pid == os.getpid()
    os.kill(orphan, signal.SIGKILL)


def test_the_name_of_a_dead_holder_is_not_given_for_that_of_the_living(tmp_path, child):
    """The next holder has the lock already, but gets to writing its name only a little later."""
    holding = child(time.sleep, 0)
    holding.end()
    dead = f'{{"pid": {holding.pid}, "host": "{os.uname().nodename}", "started": "1999"}}'
    with RunLock(tmp_path):
        alive = (tmp_path / "lock").read_text("utf-8")
        (tmp_path / "lock").write_text(dead, "utf-8")
        slow = child(write_later, tmp_path / "lock", alive)
        with pytest.raises(RunError, match=f"found process {os.getpid()} on"):
            RunLock(tmp_path).__enter__()
        assert slow.end() == 0


def write_later(path, text):
    """Signs after a moment."""
    time.sleep(0.2)
    path.write_text(text, "utf-8")


def test_nothing_half_written_is_left_by_any_of_them(tmp_path, text_file, child):
    run = tmp_path / "run"
    begin = ["train", str(text_file), *flags(steps=10**7), "--out", str(run)]
    winner = race(child, begin)
    wait_until((run / "log.jsonl").exists, winner)
    winner.send(signal.SIGTERM)
    assert winner.end() == 143
    assert not leftovers(tmp_path)
