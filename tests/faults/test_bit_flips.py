"""Laws of rot: every flipped bit and every cut is seen, and the save before is taken instead."""

import random
import sys

import pytest

from clearformer.training.checkpoint import load_latest
from clearformer.training.manifest import FILES, NAME
from faults.counts import few_or_all
from faults.programs import command
from faults.tiny import fingerprint, flags, require_intact, save

every_file = pytest.mark.parametrize("name", [*FILES, NAME])


@pytest.fixture
def newest(tmp_path):
    """The newer of two saves."""
    save(tmp_path, 1)
    return save(tmp_path, 2)


def require_passed_over(folder):
    """The newer save is not believed; the older one is read instead, and this is told."""
    latest = load_latest(folder)
    require_intact(latest, 1)
    (note,) = latest.notes
    assert note.startswith("step-000002 was passed over: ")
    assert "\n" not in note


@every_file
@few_or_all("flips", 200)
def test_every_flipped_bit_is_seen(newest, name, flips):
    """By default at random, else each bit of the file in turn."""
    file, luck = newest / name, random.Random(flips)
    whole = file.read_bytes()
    bits = range(8 * len(whole))
    for bit in luck.sample(bits, min(flips, len(bits))):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        require_passed_over(newest.parent)
    file.write_bytes(whole)
    assert load_latest(newest.parent).notes == ()


@every_file
def test_every_cut_is_seen(newest, name):
    file = newest / name
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        require_passed_over(newest.parent)
    for longer in (whole + b"\0", whole + whole, b""):
        file.write_bytes(longer)
        require_passed_over(newest.parent)
    file.unlink()
    require_passed_over(newest.parent)


@every_file
@few_or_all("flips", 20, 1000)
def test_every_byte_of_one_file_in_the_place_of_another_is_seen(newest, name, flips):
    """Blocks that a disk gives back from somewhere else."""
    file, luck = newest / name, random.Random(flips)
    whole = file.read_bytes()
    for _ in range(flips):
        other = (newest / luck.choice([*FILES, NAME])).read_bytes()
        begin = luck.randrange(len(whole))
        length = luck.randint(1, min(512, len(whole) - begin))
        part = (other * 9)[begin : begin + length].ljust(length, b"\0")
        damaged = whole[:begin] + part + whole[begin + length :]
        if damaged.split() != whole.split():  # blanks in JSON mean nothing
            file.write_bytes(damaged)
            require_passed_over(newest.parent)
            file.write_bytes(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@every_file
def test_a_run_goes_on_from_the_save_before_says_so_and_ends_as_if_nothing_had_been(
    tmp_path, text_file, child, name
):
    begin = ["train", str(text_file), *flags(), "--save-seconds", "1e-9", "--out"]
    for run in ("whole", "run"):
        assert child(command, [*begin, str(tmp_path / run)]).end() == 0
    newest = tmp_path / "run" / "checkpoints" / "step-000024" / name
    content = bytearray(newest.read_bytes())
    content[len(content) // 2] ^= 1
    newest.write_bytes(content)
    again = child(command, ["train", "--resume", "--out", str(tmp_path / "run")])
    assert again.end() == 0, again.told()
    assert "note: step-000024 was passed over: " in again.told()
    assert "note: going on after step 23" in again.told()
    assert fingerprint(tmp_path / "run") == fingerprint(tmp_path / "whole")
    writing = child(command, ["generate", str(tmp_path / "run"), "--tokens", "3"])
    assert writing.end() == 0, writing.told()
    assert "passed over" not in writing.told()
