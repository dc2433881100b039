"""Laws of SIGKILL: whenever it comes, the run goes on and loses at most the save in flight."""

import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from clearformer.training.checkpoint import load_latest, remove_stale
from faults.children import wait_until
from faults.conftest import ENVIRONMENT
from faults.counts import few_or_all
from faults.disk import ways_to_die
from faults.programs import BEFORE, command, die_at_each_call, save_for_ever
from faults.tiny import fingerprint, flags, leftovers, require_intact, short_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


# At random moments.


@few_or_all("times", 100, 1000)
def test_a_process_killed_at_a_random_moment_loses_at_most_the_save_in_flight(
    on_disk, child, times
):
    folder, told, luck = on_disk / "checkpoints", on_disk / "reported", random.Random(times)
    interrupted = 0
    for _ in range(times):
        reported = told.stat().st_size if told.exists() else 0
        saving = child(save_for_ever, folder, told)
        wait_until(lambda: told.exists() and told.stat().st_size > reported, saving)  # noqa: B023
        time.sleep(luck.uniform(0.0, 0.05))
        saving.kill()
        latest, safe = load_latest(folder), int(told.read_text().split()[-1])
        assert latest.notes == ()
        assert latest.step in (safe, safe + 1)
        require_intact(latest, latest.step)
        interrupted += bool(leftovers(folder))
        remove_stale(folder)
        assert not leftovers(folder)
    assert interrupted > times / 20  # else it was not killed while it saved


OFTEN = """
import sys
from clearformer.cli.main import entry
from clearformer.training import session
session.LARGEST_SAVE_SHARE = 1e9  # as often as --save-seconds says, whatever it costs
entry(sys.argv[1:])
"""


@few_or_all("times", 12, 100)
def test_a_run_killed_again_and_again_ends_where_an_uninterrupted_one_ends(
    on_disk, text_file, times
):
    """Whole processes, which save about every 50 ms; half of them die before their first save."""
    begin = ["train", str(text_file), *flags(steps=70 * times), "--save-seconds", "0.05", "--out"]
    run, luck, reached = on_disk / "killed", random.Random(times), 0
    resume = ["train", "--resume", "--out", str(run)]
    for number in range(times):
        started = (run / "run.json").exists()
        process = begin_training(resume if started else [*begin, str(run)])
        if number % 2 == 0:
            wait_until(lambda: newest(run) > reached or process.poll() is not None)  # noqa: B023
        time.sleep(luck.uniform(0.0, 0.3))
        process.kill()
        process.wait()
        if newest(run):
            latest = load_latest(run / "checkpoints")
            assert latest.notes == ()
            assert latest.step >= reached
            reached = latest.step
    assert reached
    for arguments in (resume, [*begin, str(on_disk / "whole")]):
        assert begin_training(arguments).wait() == 0
    assert fingerprint(run) == fingerprint(on_disk / "whole")
    assert not leftovers(run)


def begin_training(arguments):
    """A process that is not forked from another."""
    quiet = subprocess.DEVNULL
    words = [sys.executable, "-c", OFTEN, *arguments]
    return subprocess.Popen(words, env=ENVIRONMENT, stdout=quiet, stderr=quiet)


def newest(run):
    """The highest step that has a folder."""
    return max((int(path.name[5:]) for path in run.glob("checkpoints/step-??????")), default=0)


# At every call of a save, in turn.


@pytest.mark.parametrize("before", BEFORE)
def test_a_save_killed_at_any_of_its_calls_leaves_the_one_before(tmp_path, child, before):
    killing = child(die_at_each_call, before, tmp_path / "killed")
    assert killing.end() == 0, killing.told()


# At the calls of a whole run, from its first folder to its last save.


@few_or_all("times", 24)
def test_a_run_killed_at_any_of_its_calls_is_begun_or_gone_on_with(
    tmp_path, text_file, child, whole, times
):
    expected, calls = whole
    places = ways_to_die(calls, random.Random(times))
    for number, (at, moment) in enumerate(places[:times]):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = folder / "run"
        killed = child(command, short_run(run, text_file), folder, {"at": at, "dies": moment})
        assert killed.end() == -signal.SIGKILL, killed.told()
        arguments = short_run(run, text_file)
        if (run / "run.json").exists():
            arguments = ["train", "--resume", "--out", str(run)]
        again = child(command, arguments, folder)
        assert again.end() == 0, (at, moment, again.told())
        assert fingerprint(run) == expected
        assert not leftovers(folder), (at, moment)
        shutil.rmtree(folder)
