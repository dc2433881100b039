"""Laws of a full disk, on real ones of every size: refused before the first byte, nothing lost."""

import os
import sys

import pytest

from faults.counts import few_or_all
from faults.mounts import run_with_mounts
from faults.programs import command, with_largest_file
from faults.tiny import flags, leftovers

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts as Linux does")

SWEEP = """
import re
import numpy as np
from clearformer.errors import RunError
from clearformer.training import checkpoint, durable
from clearformer.training.checkpoint import load_checkpoint, load_latest, save_checkpoint

place, many, honest = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "honest"
NUMBERS = 150_000  # a save of 1.2 MB
EACH = 64 * 1024

def save(step):
    arrays = {"w": np.full(NUMBERS, step, np.float32)}
    path = save_checkpoint(place / "checkpoints", step, model=arrays, optimizer=arrays, state={})
    return path

def right(step):
    saved = load_checkpoint(place / "checkpoints" / f"step-{step:06}")
    return all((a["w"] == step).all() for a in (saved.model, saved.optimizer))

def names():
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))

mount(place, "size=100M")
whole = sum(path.stat().st_size for path in save(1).iterdir())
unmount(place)
needed = whole + whole // 10 + checkpoint.FOLDER_BYTES
if not honest:  # the space goes to somebody else between the question and the writing
    checkpoint.free_bytes = lambda folder: None

sizes = range(EACH, int(2.2 * whole) + 1, EACH)
refused, done, half = 0, 0, 0
for size in sizes[:: max(1, len(sizes) // many)]:
    mount(place, f"size={size}")
    good = []
    for step in (1, 2, 3):
        before, free = names(), durable.free_bytes(place)
        try:
            save(step)
            good.append(step)
            done += 1
        except RunError as error:
            refused += 1
            line = str(error)
            assert "\\n" not in line and str(place) in line, line
            told = re.search(r"([0-9,]+) bytes needed, ([0-9,]+) free", line)
            assert told, line
            wanted, there = (int(number.replace(",", "")) for number in told.groups())
            assert wanted >= whole and there <= size, line
            half += "No space left on device" in line
            assert not honest or free < needed, (free, needed)
            assert {*names()} <= {*before, "checkpoints"}, (before, names())
        else:
            assert not honest or free >= needed, (free, needed)
        kept = good[-2:]
        assert all(right(step) for step in kept)
        if good:
            assert load_latest(place / "checkpoints").step == good[-1]
    unmount(place)
print(refused, done, half)
"""


@pytest.mark.parametrize("disk", ["honest", "shared"])
@few_or_all("sizes", 10, 60)
def test_a_save_fits_or_is_refused_and_earlier_ones_stay_whatever_the_size(tmp_path, sizes, disk):
    told = run_with_mounts(SWEEP, tmp_path / "disk", sizes, disk)
    refused, done, half = map(int, told.split())
    assert refused
    assert done
    assert (half > 0) == (disk == "shared")  # an honest one is asked before the first byte


RUN = """
from clearformer.cli.main import entry
from clearformer.training import session
import clearformer.runs.train

session.LARGEST_SAVE_SHARE = 1e9
place, many, arguments = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]

def train(arguments):
    child = os.fork()
    if child == 0:
        try:
            entry(arguments)
        except SystemExit as end:
            os._exit(end.code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

for number in range(many):
    mount(place, f"size={8192 + 4096 * (number * 70 // many)}")
    status = train(arguments)
    print(status)
    left = [str(path) for path in place.rglob("*.tmp")]
    assert not left, left
    if status != 0:
        assert status == 2, status
        remount(place, "size=100M")
        begun = (place / "run" / "run.json").exists()
        again = ["train", "--resume", "--out", str(place / "run")] if begun else arguments
        assert train(again) == 0
    unmount(place)
"""


@few_or_all("sizes", 12, 70)
def test_a_run_on_a_full_disk_stops_with_status_2_and_goes_on_when_there_is_space(
    tmp_path, text_file, sizes
):
    arguments = ["train", text_file, *flags(steps=6), "--save-seconds", "1e-9"]
    run = tmp_path / "disk" / "run"
    told = run_with_mounts(RUN, tmp_path / "disk", sizes, *arguments, "--out", run)
    assert {line for line in told.splitlines() if len(line) == 1} == {"0", "2"}


@few_or_all("sizes", 8, 100)
def test_a_limit_on_the_size_of_a_file_is_told_like_a_full_disk(tmp_path, text_file, child, sizes):
    """As a quota would: the system takes so many bytes of a file and no more."""
    refused = 0
    for number in range(sizes):
        run = tmp_path / str(number)
        arguments = ["train", str(text_file), *flags(steps=3), "--out", str(run)]
        limited = child(with_largest_file, 100 + 12_000 * number // sizes, arguments)
        status = limited.end()
        if status:
            refused += 1
            assert status == 2
            line = limited.told().splitlines()[-1]
            assert line.startswith("clearformer: ")
            assert os.strerror(27) in line
            assert "bytes needed" in line
            again = arguments
            if (run / "run.json").exists():
                again = ["train", "--resume", "--out", str(run)]
            again = child(command, again)
            assert again.end() == 0, again.told()
        assert not leftovers(run)
    assert 0 < refused < sizes
