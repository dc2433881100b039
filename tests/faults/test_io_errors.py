"""Laws of calls that the system refuses: nothing that was safe is lost, and one line says why."""

import errno
import itertools
import os
import random
import shutil
import sys

import pytest

from clearformer.errors import RunError
from clearformer.training.checkpoint import load_checkpoint, load_latest, remove_stale
from faults.counts import few_or_all
from faults.disk import WAYS_TO_FAIL, Disk, ways_to_fail
from faults.programs import command
from faults.tiny import fingerprint, leftovers, require_intact, save, short_run

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")

every_way = pytest.mark.parametrize(
    ("error", "for_good"),
    WAYS_TO_FAIL,
    ids=[f"{errno.errorcode[error]}{' for good' * always}" for error, always in WAYS_TO_FAIL],
)


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    """It takes long, and guards only against a power cut."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def require_one_line(message: str, path: object, error: int) -> None:
    """The path, why, and bytes where it is about space."""
    assert "\n" not in message
    assert str(path) in message
    assert os.strerror(error) in message
    if error == errno.ENOSPC:
        assert "bytes needed" in message
        assert " free)" in message


@every_way
def test_a_save_refused_at_any_call_leaves_the_earlier_ones_and_says_why(tmp_path, error, for_good):
    met = set()
    for at in itertools.count(1):
        folder = tmp_path / f"{at}" / "checkpoints"
        folder.parent.mkdir()
        for step in (1, 2):
            save(folder, step)
        outcome = None
        with Disk(folder.parent, at=at, error=error, for_good=for_good) as disk:
            try:
                save(folder, 3)
            except RunError as refused:
                outcome = str(refused)
        if not disk.met:
            break
        met.add(disk.calls[at - 1].split()[0])
        if outcome is None:  # only the old one could not be taken away
            require_intact(load_latest(folder), 3)
        else:
            require_one_line(outcome, folder / "step-000003", error)
            for step in (1, 2):
                require_intact(load_checkpoint(folder / f"step-{step:06}"), step)
            assert for_good or not leftovers(folder)
        assert load_latest(folder).notes == ()
        save(folder, 4)
        remove_stale(folder)
        require_intact(load_latest(folder), 4)
        assert not leftovers(folder)
    assert met >= {"mkdir", "open", "write", "fsync", "replace", "unlink", "rmdir", "read"}


@every_way
def test_what_cannot_be_read_now_is_passed_over_with_a_word_and_not_touched(
    tmp_path, error, for_good
):
    folder = tmp_path / "checkpoints"
    for step in (1, 2):
        save(folder, step)
    for at in itertools.count(1):
        with Disk(tmp_path, at=at, error=error, for_good=for_good) as disk:
            try:
                latest = load_latest(folder)
            except RunError as refused:
                latest = None
                require_one_line(str(refused), folder, error)
        if not disk.met:
            break
        if latest is not None:
            require_intact(latest, latest.step)
            assert latest.step == 2 or latest.notes[0].startswith("step-000002 was passed over")
        require_intact(load_latest(folder), 2)
    assert at > 20


@posix
@few_or_all("times", 24)
def test_a_run_refused_at_any_call_says_why_in_one_line_and_can_go_on(
    tmp_path, text_file, child, whole, times
):
    expected, calls = whole
    places = ways_to_fail(calls, random.Random(times))
    for number, (at, (error, for_good)) in enumerate(places[:times]):
        folder = tmp_path / str(number)
        folder.mkdir()
        run = folder / "run"
        fault = {"at": at, "error": error, "for_good": for_good}
        refused = child(command, short_run(run, text_file), folder, fault)
        status, told = refused.end(), refused.told()
        assert "Traceback" not in told, (fault, told)
        if status != 0:
            assert status == 2, (fault, told)
            line = told.splitlines()[-1]
            assert line.startswith("clearformer: ")
            require_one_line(line, run, error)
        arguments = short_run(run, text_file)
        if (run / "run.json").exists():
            arguments = ["train", "--resume", "--out", str(run)]
        again = child(command, arguments, folder)
        assert again.end() == 0, (fault, again.told())
        assert fingerprint(run) == expected
        assert not leftovers(folder), fault
        shutil.rmtree(folder)
