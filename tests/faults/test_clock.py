"""Laws of clocks: none decides which save is the newest, or whether a run may go on."""

import os
import sys

import pytest

from clearformer.training.checkpoint import load_latest
from clearformer.training.lock import RunLock, holder_of
from faults.programs import at_another_time
from faults.tiny import fingerprint, flags, save

DAY = 86_400


def set_times(folder, time_of):
    """Gives every file and folder below the time that `time_of` makes of its number."""
    for number, path in enumerate(sorted(folder.rglob("*"), reverse=True)):
        os.utime(path, (time_of(number), time_of(number)))


@pytest.mark.parametrize(
    "time_of",
    [
        lambda number: 1_000_000_000,
        lambda number: 1_000_000_000 + number,
        lambda number: 1_000_000_000 - number,
        lambda number: 4_000_000_000,
        lambda number: 0,
    ],
    ids=["all equal", "older is newer", "newer is newer", "in the future", "1970"],
)
def test_the_newest_save_is_that_of_the_highest_step(tmp_path, time_of):
    for step in (9, 10, 99_999, 100_000, 999_999, 1_000_000):
        save(tmp_path, step, keep=9)
        set_times(tmp_path, time_of)
        assert load_latest(tmp_path).step == step
    save(tmp_path, 1_000_001, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1000000", "step-1000001"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and tzset")
@pytest.mark.parametrize(
    ("shift", "zone"),
    [
        (-DAY, "UTC"),
        (DAY, "UTC"),
        (0, "Pacific/Kiritimati"),
        (-3600, "Pacific/Marquesas"),
        (-60 * 365 * DAY, "XXX-14:59:59"),
    ],
)
def test_a_run_gone_on_with_at_another_time_ends_where_an_uninterrupted_one_ends(
    tmp_path, text_file, child, shift, zone
):
    begin = ["train", str(text_file), *flags(), "--save-seconds", "1e-9", "--out"]
    whole = child(at_another_time, 0, "UTC", [*begin, str(tmp_path / "whole")])
    first = child(at_another_time, 0, "UTC", [*begin, str(tmp_path / "run")], 13)
    assert (whole.end(), first.end()) == (0, 130), first.told()
    again = child(
        at_another_time, shift, zone, ["train", "--resume", "--out", str(tmp_path / "run")]
    )
    assert again.end() == 0, again.told()
    assert "note: going on after step 13" in again.told()
    assert fingerprint(tmp_path / "run") == fingerprint(tmp_path / "whole")


@pytest.mark.parametrize("started", ["2016-12-31T23:59:60+00:00", "", "yesterday", "9999" * 9])
def test_a_holder_is_named_whatever_its_clock_said(tmp_path, started):
    with RunLock(tmp_path):
        text = (tmp_path / "lock").read_text("utf-8")
        place = text.index('"started": "') + len('"started": "')
        (tmp_path / "lock").write_text(f'{text[:place]}{started}"}}', "utf-8")
        assert holder_of(tmp_path).started == started
    with RunLock(tmp_path):
        assert holder_of(tmp_path).pid == os.getpid()
