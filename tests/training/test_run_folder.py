"""Laws of the run folder: never two runs in one, nothing lost, nothing left behind."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from clearformer.errors import RunError
from clearformer.training import durable, run_folder
from clearformer.training.checkpoint import save_checkpoint
from clearformer.training.lock import RunLock
from clearformer.training.run_folder import RunFolder, default_run_path


@pytest.fixture
def run(tmp_path):
    """A configured run."""
    run = RunFolder.create(tmp_path / "runs" / "text")
    run.write_configuration({"model": {"embed": 128}, "seed": 1})
    return run


def save(run, step=1):
    return save_checkpoint(
        run.checkpoints, step, model={"w": np.zeros(2)}, optimizer={}, state={"step": step}
    )


def fail(number):
    raise OSError(number, os.strerror(number))


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def refused(path):
    with pytest.raises(RunError) as caught:
        RunFolder.create(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_run_opened_again_is_the_run_that_was_created(run):
    again = RunFolder.open(run.path)
    assert again.path == run.path
    assert again.configuration == run.configuration == {"model": {"embed": 128}, "seed": 1}
    assert again.checkpoints == run.path / "checkpoints"
    assert again.tokenizer_path == run.path / "tokenizer.json"
    assert json.loads((run.path / "run.json").read_text("utf-8"))["format"] == 1


def test_the_configuration_can_be_changed_only_by_writing_it(run):
    run.configuration["model"]["embed"] = 3
    assert run.configuration["model"] == {"embed": 128}
    run.write_configuration({**run.configuration, "tokenizer": "猫", "shape": (1, 2)})
    expected = {"model": {"embed": 128}, "seed": 1, "tokenizer": "猫", "shape": [1, 2]}
    assert run.configuration == expected
    assert RunFolder.open(run.path).configuration == expected


@pytest.mark.parametrize("configuration", [{"format": 2}, {"rate": float("nan")}, {"x": object()}])
def test_a_configuration_that_cannot_be_kept_is_refused_and_the_old_one_stays(run, configuration):
    with pytest.raises(RunError, match=r"cannot write .*run\.json"):
        run.write_configuration(configuration)
    assert RunFolder.open(run.path).configuration == {"model": {"embed": 128}, "seed": 1}


def test_a_full_disk_leaves_the_old_configuration(run, monkeypatch):
    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunError, match=r"run\.json: No space left .* bytes needed, [\d,]+ free"):
        run.write_configuration({"seed": 2})
    monkeypatch.undo()
    assert RunFolder.open(run.path).configuration["seed"] == 1
    assert everything(run.path) == ["run.json"]


def test_a_rename_that_windows_finds_busy_is_tried_again(run, monkeypatch):
    tries = []
    replace = os.replace

    def busy_twice(source, target):
        tries.append(source)
        if len(tries) < 3:
            error = PermissionError(errno.EACCES, "Access is denied")
            error.winerror = (5, 32)[len(tries) - 1]
            raise error
        replace(source, target)

    monkeypatch.setattr(os, "replace", busy_twice)
    monkeypatch.setattr(durable, "PATIENCE", (0, 0, 0))
    run.write_configuration({"seed": 2})
    assert len(tries) == 3
    monkeypatch.setattr(durable, "PATIENCE", (0,))
    tries.clear()
    with pytest.raises(RunError, match="Access is denied"):
        run.write_configuration({"seed": 3})
    assert RunFolder.open(run.path).configuration == {"seed": 2}


def test_a_folder_with_a_run_is_not_used_again(run):
    assert "already holds a run; continue it with --resume" in refused(run.path)
    save(run)
    assert "already holds a run" in refused(run.path)
    with RunLock(run.path):
        assert "already holds a run" in refused(run.path)


@pytest.mark.parametrize("name", ["notes.txt", "tokenizer.json", "checkpoints", "lock.txt"])
def test_a_folder_with_other_files_is_not_used(tmp_path, name):
    (tmp_path / name).write_text("mine", "utf-8")
    assert f"holds other files ('{name}')" in refused(tmp_path)
    assert everything(tmp_path) == [name]


def test_a_folder_with_saves_but_no_configuration_is_not_used(run):
    with RunLock(run.path):
        save(run)
    (run.path / "run.json").unlink()
    assert "holds other files ('checkpoints')" in refused(run.path)


def test_a_start_killed_before_its_configuration_hinders_nobody(tmp_path):
    path = tmp_path / "run"
    with RunLock(RunFolder.create(path).path):
        (path / "tokenizer.json").write_bytes(b"{}")
        (path / "run.json.tmp").write_bytes(b"{")
    run = RunFolder.create(path)
    run.write_configuration({"seed": 1})
    assert everything(path) == ["lock", "run.json", "tokenizer.json"]


def test_of_two_that_created_the_same_folder_only_one_configures_it(tmp_path):
    first, second = RunFolder.create(tmp_path / "run"), RunFolder.create(tmp_path / "run")
    first.write_configuration({"seed": 1})
    with pytest.raises(RunError, match="already holds a run"):
        second.write_configuration({"seed": 2})
    second.discard()
    assert RunFolder.open(first.path).configuration == {"seed": 1}


def test_an_empty_folder_may_be_used(tmp_path):
    RunFolder.create(tmp_path).write_configuration({})
    assert RunFolder.open(tmp_path).configuration == {}


def test_places_that_cannot_hold_a_run_are_one_plain_error(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_bytes(b"")
    assert "is a file" in refused(file)
    assert "cannot create the run" in refused(file / "run")
    assert "its name has 300 bytes" in refused(tmp_path / ("x" * 300))
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert "cannot create the run" in refused(tmp_path / "link")
    monkeypatch.setattr(os, "access", lambda *_: False)
    (tmp_path / "locked").mkdir()
    assert "expected permission" in refused(tmp_path / "locked")


def test_parents_made_for_a_run_that_cannot_be_made_go_again(tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def fail_at_the_last(path, *arguments, **options):
        if path.name == "run":
            raise PermissionError(errno.EACCES, "Permission denied")
        mkdir(path, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", fail_at_the_last)
    assert "Permission denied" in refused(tmp_path / "a" / "b" / "run")
    assert everything(tmp_path) == []


def test_what_is_no_run_is_not_opened(tmp_path):
    for path, message in (
        (tmp_path / "missing", "there is no run at .*missing; train one with: clearformer train"),
        (tmp_path, r"is not a run: expected a folder with run\.json"),
        (tmp_path / "run.txt", "is not a run"),
    ):
        (tmp_path / "run.txt").write_bytes(b"text")
        with pytest.raises(RunError, match=message):
            RunFolder.open(path)
    with pytest.raises(RunError, match="nothing was configured"):
        _ = RunFolder.create(tmp_path / "new").configuration


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": 2, "what": "unknown"}', "format 2, this clearformer reads up to 1; upgrade"),
        ('{"format": 0}', "is damaged: expected a format number, got 0"),
        ('{"format": true}', "is damaged"),
        ('{"seed": 1}', "is damaged: expected a format number, got None"),
        ('{"format": 1, "a": NaN}', "is damaged"),
        ('{"format": 1', "is damaged"),
        ("[" * 10_000, "is damaged"),
        ("", "is damaged"),
    ],
)
def test_a_damaged_or_newer_configuration_is_one_plain_error(run, text, message):
    (run.path / "run.json").write_text(text, "utf-8")
    with pytest.raises(RunError, match=message) as caught:
        RunFolder.open(run.path)
    assert "\n" not in str(caught.value)


def test_the_log_gives_back_its_lines(run):
    assert run.read_log() == []
    run.log({"step": 1, "train_loss": np.float32(2.5)})
    run.log({"step": 2, "note": "猫\n"})
    assert run.read_log() == [{"step": 1, "train_loss": 2.5}, {"step": 2, "note": "猫\n"}]
    assert len((run.path / "log.jsonl").read_bytes().splitlines()) == 2
    with pytest.raises(RunError, match=r"cannot write a line of"):
        run.log({"step": 3, "train_loss": float("nan")})
    assert len(run.read_log()) == 2


def test_a_torn_last_line_is_left_out_and_written_over(run):
    run.log({"step": 1})
    whole = (run.path / "log.jsonl").read_bytes()
    for length in range(len(whole)):
        (run.path / "log.jsonl").write_bytes(whole + whole[:length])
        assert run.read_log() == [{"step": 1}]
        run.log({"step": 2})
        assert run.read_log() == [{"step": 1}, {"step": 2}]


def test_a_damaged_line_is_named_and_does_not_keep_a_run_from_resuming(run):
    for step in (1, 2, 3):
        run.log({"step": step})
    text = (run.path / "log.jsonl").read_text("utf-8")
    (run.path / "log.jsonl").write_text(text.replace('{"step": 2}', "\0" * 9), "utf-8")
    with pytest.raises(RunError, match=r"line 2 of .*log\.jsonl is damaged"):
        run.read_log()
    run.truncate_log(9)
    assert run.read_log() == [{"step": 1}, {"step": 3}]


def test_a_resumed_run_drops_the_lines_it_will_write_again(run):
    run.truncate_log(5)
    assert not (run.path / "log.jsonl").exists()
    entries = [{"start": "now"}, {"step": 1}, {"step": 2, "x": 1}, {"step": 2}, {"step": 3}]
    for entry in entries:
        run.log(entry)
    run.truncate_log(3)
    assert run.read_log() == entries
    run.truncate_log(2)
    assert run.read_log() == entries[:4]
    run.truncate_log(0)
    assert run.read_log() == [{"start": "now"}]


def test_samples_are_kept_in_order_whatever_they_hold(run):
    run.add_sample(100, "To be\r\n猫 \ud800")
    run.add_sample(200, "or not")
    text = (run.path / "samples.txt").read_bytes().decode("utf-8")
    assert text == "=== step 100 ===\nTo be\r\n猫 \\ud800\n\n=== step 200 ===\nor not\n\n"


def test_a_folder_that_vanished_is_one_plain_error(run):
    (run.path / "run.json").unlink()
    run.path.rmdir()
    for write in (
        lambda: run.log({"step": 1}),
        lambda: run.add_sample(1, "x"),
        lambda: run.write_configuration({}),
    ):
        with pytest.raises(RunError, match=r"cannot write .*: No such file"):
            write()


def test_a_discarded_run_leaves_nothing_behind(tmp_path):
    run = RunFolder.create(tmp_path / "a" / "b" / "run")
    with RunLock(run.path):
        run.write_configuration({"seed": 1})
        run.tokenizer_path.write_bytes(b"{}")
        run.log({"step": 0})
        run.add_sample(0, "x")
        (run.checkpoints / "step-000001.tmp").mkdir(parents=True)
    run.discard()
    assert everything(tmp_path) == []
    run.discard()


def test_discarding_never_takes_a_save_an_opened_run_or_a_file_of_somebody(tmp_path, run):
    RunFolder.open(run.path).discard()
    assert run.path.exists()
    (run.path.parent / "else.txt").write_bytes(b"")
    (run.path / "mine.txt").write_bytes(b"")
    run.discard()
    assert everything(run.path) == ["mine.txt"]
    other = RunFolder.create(tmp_path / "other")
    other.write_configuration({})
    save(other)
    other.discard()
    assert (other.path / "run.json").exists()
    assert (other.path / "checkpoints" / "step-000001" / "manifest.json").exists()


def test_discarding_an_empty_folder_of_somebody_leaves_it_empty(tmp_path):
    (tmp_path / "out").mkdir()
    run = RunFolder.create(tmp_path / "out")
    run.write_configuration({})
    run.discard()
    assert everything(tmp_path) == ["out"]


def test_discarding_spares_a_folder_in_which_another_process_trains(tmp_path, monkeypatch):
    run = RunFolder.create(tmp_path / "run")
    monkeypatch.setattr(run_folder.lock, "is_me", lambda holder: False)
    with RunLock(run.path):
        run.discard()
        assert everything(tmp_path) == ["run", "run/lock"]


def test_discarding_spares_a_run_that_took_the_place_of_ours(tmp_path):
    run = RunFolder.create(tmp_path / "run")
    run.write_configuration({"seed": 1})
    shutil.rmtree(run.path)
    RunFolder.create(run.path).write_configuration({"seed": 2})
    run.discard()
    assert RunFolder.open(run.path).configuration == {"seed": 2}


def test_what_killed_processes_left_half_written_is_removed(run):
    left = ["log.jsonl.tmp", "run.json.tmp", "samples.txt.tmp", "tokenizer.json.tmp"]
    for name in (*left, "mine.tmp"):
        (run.path / name).write_bytes(b"half")
    (run.checkpoints / "step-000001.tmp").mkdir(parents=True)
    with run.locked():
        assert sorted(run.remove_stale()) == [*left[:2], left[2], "step-000001.tmp", left[3]]
    assert everything(run.path) == ["checkpoints", "lock", "mine.tmp", "run.json"]


def test_a_tokenizer_is_written_whole_or_not_at_all(run, monkeypatch):
    run.write_tokenizer(b"first")
    monkeypatch.setattr(os, "replace", lambda *_: fail(errno.EIO))
    with pytest.raises(RunError, match=r"cannot write .*tokenizer\.json: "):
        run.write_tokenizer(b"second")
    assert run.tokenizer_path.read_bytes() == b"first"


def test_inside_the_lock_a_folder_that_was_replaced_is_noticed(run):
    run.require_own()
    with run.locked():
        run.require_own()
        run.log({"step": 1})
        run.path.rename(run.path.with_name("elsewhere"))
        RunFolder.create(run.path).write_configuration({"seed": 2})
        for write in (run.require_own, lambda: run.log({"step": 2}), lambda: run.add_sample(2, "")):
            with pytest.raises(RunError, match="is no longer the folder this run began in"):
                write()
    assert everything(run.path) == ["run.json"]


def test_the_default_path_is_at_hand_here(tmp_path):
    assert default_run_path("text", tmp_path) == tmp_path / "text"
