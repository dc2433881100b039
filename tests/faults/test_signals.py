"""Laws of signals: asked to stop, a run finishes its step and saves; asked again, it just ends."""

import random
import signal
import sys
import time

import pytest

from clearformer.training.checkpoint import load_latest
from faults.children import wait_until
from faults.counts import few_or_all
from faults.programs import command, slow_command
from faults.tiny import flags, leftovers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and POSIX signals")

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}
if sys.platform != "win32":
    STATUS[signal.SIGHUP] = 143


def endless(run, text_file):
    """A command line that trains until it is stopped, saving about every 50 ms."""
    return [
        "train", str(text_file), *flags(steps=10**7), "--save-seconds", "0.05", "--out", str(run),
    ]  # fmt: skip


def require_going_on(child, run):
    """The run goes on from its last save for two steps, and leaves nothing half-written."""
    step = load_latest(run / "checkpoints").step if (run / "checkpoints").exists() else 0
    again = child(command, ["train", "--resume", "--out", str(run), "--steps", str(step + 2)])
    assert again.end() == 0, again.told()
    assert load_latest(run / "checkpoints").step == step + 2
    assert not leftovers(run)


@pytest.mark.parametrize("number", STATUS)
@few_or_all("times", 20, 100)
def test_a_signal_at_a_random_moment_ends_in_a_save_of_the_last_step(
    tmp_path, text_file, child, number, times
):
    luck = random.Random(times + number)
    for turn in range(times):
        run = tmp_path / str(turn)
        training = child(command, endless(run, text_file))
        wait_until((run / "log.jsonl").exists, training)
        time.sleep(luck.uniform(0.0, 0.1))
        training.send(number)
        assert training.end() == STATUS[number], training.told()
        assert not training.left_processes()
        last = training.told().splitlines()[-1]
        latest = load_latest(run / "checkpoints")
        assert latest.notes == ()
        assert f"clearformer: stopped after step {latest.step:,} and saved; go on with: " in last
        assert not leftovers(run)
        if turn % 5 == 0:
            require_going_on(child, run)


@pytest.mark.parametrize("number", STATUS)
@few_or_all("times", 5, 100)
def test_a_signal_before_the_first_step_leaves_a_run_that_can_go_on_or_none(
    tmp_path, text_file, child, number, times
):
    luck = random.Random(times + number)
    for turn in range(times):
        run = tmp_path / str(turn)
        training = child(command, endless(run, text_file))
        wait_until(run.exists, training)
        time.sleep(luck.uniform(0.0, 0.02))
        training.send(number)
        assert training.end() in (STATUS[number], -number), training.told()
        assert "Traceback" not in training.told()
        if (run / "run.json").exists():
            require_going_on(child, run)
        else:
            arguments = endless(run, text_file)
            arguments[arguments.index("--steps") + 1] = "3"
            again = child(command, arguments)
            assert again.end() == 0, again.told()
            assert not leftovers(run)


@pytest.mark.parametrize("second", STATUS)
@few_or_all("times", 7, 100)
def test_a_second_signal_ends_it_at_once_and_breaks_nothing(
    tmp_path, text_file, child, second, times
):
    """The first save is already under way then: this disk takes its time."""
    luck, cut_short = random.Random(times + second), 0
    for turn in range(5 * times):
        if turn >= times and cut_short:
            break  # of two equal signals that wait together the system keeps one
        run = tmp_path / str(turn)
        training = child(slow_command, endless(run, text_file))
        wait_until(lambda: any((run / "checkpoints").glob("step-??????")), training)  # noqa: B023
        before = load_latest(run / "checkpoints").step
        training.send(signal.SIGINT)
        time.sleep(luck.uniform(0.0, 0.05))
        training.send(second)
        status = training.end()
        assert status in (130, -second), training.told()
        assert "Traceback" not in training.told()
        cut_short += "stopped after step" not in training.told()
        assert not training.left_processes()
        latest = load_latest(run / "checkpoints")
        assert latest.notes == ()
        assert latest.step >= before
        if turn % 3 == 0:
            require_going_on(child, run)
    assert cut_short
