"""Laws of saves: bit-exact, never half there, never believed when damaged."""

import itertools
import json
import os
import shutil

import numpy as np
import pytest

from clearformer.errors import ConfigurationError, RunError
from clearformer.training import durable
from clearformer.training.checkpoint import (
    Checkpoint,
    latest_model,
    load_checkpoint,
    load_latest,
    remove_stale,
    save_checkpoint,
)
from faults.disk import Disk

FILES = ("model.safetensors", "optimizer.safetensors", "state.json", "manifest.json")


def save(folder, step, keep=2):
    """Saves a small run in which every number is its step."""
    return save_checkpoint(
        folder,
        step,
        model={"blocks.0.query": np.full((2, 3), step, np.float32), "norm": np.full(2, step)},
        optimizer={"first": np.full(4, step, np.float32)},
        state={"step": step, "generator": {"state": 2**127 + step}},
        keep=keep,
    )


def require_intact(saved: Checkpoint, step: int) -> None:
    assert saved.step == step
    assert saved.state == {"step": step, "generator": {"state": 2**127 + step}}
    arrays = [*saved.model.values(), *saved.optimizer.values()]
    assert [array.shape for array in arrays] == [(2, 3), (2,), (4,)]
    assert all((array == step).all() for array in arrays)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_save_gives_back_every_bit(tmp_path, rng):
    model = {
        "zero-dimensional": np.array(1.5),
        "nothing": np.zeros((0, 3), np.float16),
        "transposed": rng.standard_normal((3, 5)).T,
        "every second": rng.standard_normal((6, 4))[::2, ::-1],
        "big-endian": rng.standard_normal(3).astype(">f8"),
        "not numbers": np.array([0x7FC00001, 0xFF800000, 0x80000000], np.uint32).view(np.float32),
        "重み": rng.integers(0, 2, 7).astype(bool),
    }
    for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8"):
        model[dtype] = rng.integers(0, 100, (2, 3)).astype(dtype)
    path = save_checkpoint(tmp_path, 7, model=model, optimizer={}, state={"x": [1, None, "é"]})
    loaded = load_checkpoint(path)
    assert loaded.state == {"x": [1, None, "é"]}
    assert loaded.model.keys() == model.keys()
    for name, array in model.items():
        assert loaded.model[name].dtype == array.dtype.newbyteorder("="), name
        assert loaded.model[name].shape == array.shape, name
        assert loaded.model[name].tobytes() == array.astype(loaded.model[name].dtype).tobytes()


def test_the_folder_is_as_documented_and_the_library_reads_it(tmp_path):
    from safetensors.numpy import load_file

    path = save(tmp_path / "checkpoints", 250)
    assert path == tmp_path / "checkpoints" / "step-000250"
    assert names(path) == sorted(FILES)
    assert load_file(path / "model.safetensors")["norm"].tolist() == [250, 250]
    manifest = json.loads((path / "manifest.json").read_text("utf-8"))
    assert manifest["step"] == 250
    assert manifest["format"] == 1
    assert set(manifest["files"]) == set(FILES[:3])


def test_what_was_read_can_be_written_to_without_touching_the_save(tmp_path):
    path = save(tmp_path, 1)
    loaded = load_checkpoint(path)
    for array in (*loaded.model.values(), *loaded.optimizer.values()):
        array[...] = -1
    require_intact(load_checkpoint(path), 1)


def test_the_latest_is_the_highest_step_whatever_the_clock_says(tmp_path):
    for step in (999_999, 1_000_000, 1_000_001):
        os.utime(save(tmp_path, step, keep=9), (1_000_000_000 - step, 1_000_000_000 - step))
    assert names(tmp_path) == ["step-1000000", "step-1000001", "step-999999"]
    require_intact(load_latest(tmp_path), 1_000_001)


def test_only_the_newest_good_saves_stay(tmp_path):
    for step in (1, 2, 3, 4):
        save(tmp_path, step)
    assert names(tmp_path) == ["step-000003", "step-000004"]


def test_rotation_never_counts_a_damaged_save_as_good(tmp_path):
    for step in (1, 2, 3):
        save(tmp_path, step, keep=9)
    (tmp_path / "step-000003" / "model.safetensors").write_bytes(b"")
    save(tmp_path, 4, keep=2)
    assert names(tmp_path) == ["step-000002", "step-000003", "step-000004"]


def test_rotation_keeps_the_new_save_below_an_old_higher_one(tmp_path):
    save(tmp_path, 900)
    save(tmp_path, 5, keep=1)
    assert "step-000005" in names(tmp_path)


def test_rotation_touches_only_saves(tmp_path):
    others = ("step-1", "step-000001x", "step-00000１", "my-step-000001", "step-0000001", "notes")
    for name in others:
        (tmp_path / name).mkdir()
    for step in (2, 3, 4):
        save(tmp_path, step, keep=1)
    assert names(tmp_path) == sorted([*others, "step-000004"])


def test_a_good_save_of_the_same_step_stays_as_it_is(tmp_path):
    before = (save(tmp_path, 3) / "manifest.json").stat()
    assert save(tmp_path, 3) == tmp_path / "step-000003"
    after = (tmp_path / "step-000003" / "manifest.json").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_save_of_the_same_step_is_replaced(tmp_path, name):
    (save(tmp_path, 3) / name).write_bytes(b"{}")
    save(tmp_path, 3)
    require_intact(load_latest(tmp_path), 3)
    assert names(tmp_path) == ["step-000003"]


@pytest.mark.parametrize("name", FILES)
def test_every_flipped_bit_is_noticed(tmp_path, rng, name):
    save(tmp_path, 1)
    file = save(tmp_path, 2) / name
    whole = file.read_bytes()
    bits = len(whole) * 8
    for bit in rng.choice(bits, min(bits, 120), replace=False).tolist():
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        loaded = load_latest(tmp_path)
        require_intact(loaded, 1)
        assert len(loaded.notes) == 1
        assert loaded.notes[0].startswith("step-000002 was passed over: ")
        assert "\n" not in loaded.notes[0]
    file.write_bytes(whole)
    assert load_latest(tmp_path).notes == ()


@pytest.mark.parametrize("name", FILES)
def test_every_truncation_is_noticed(tmp_path, name):
    save(tmp_path, 1)
    file = save(tmp_path, 2) / name
    whole = file.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 100)):
        file.write_bytes(whole[:length])
        require_intact(load_latest(tmp_path), 1)
    file.write_bytes(whole[:-1])
    require_intact(load_latest(tmp_path), 1)
    file.unlink()
    loaded = load_latest(tmp_path)
    assert name in loaded.notes[0]


def test_a_renamed_save_is_not_believed(tmp_path):
    shutil.copytree(save(tmp_path, 1), tmp_path / "step-000002")
    loaded = load_latest(tmp_path)
    require_intact(loaded, 1)
    assert "manifest is of step 1" in loaded.notes[0]


def test_nothing_intact_is_one_plain_error(tmp_path):
    with pytest.raises(RunError, match=r"no save in .*nothing was saved yet"):
        load_latest(tmp_path / "missing")
    (save(tmp_path, 1) / "state.json").write_bytes(b"[]")
    with pytest.raises(RunError, match=r"no intact save in .*state\.json.*bytes"):
        load_latest(tmp_path)
    with pytest.raises(RunError, match="there is no save at"):
        load_checkpoint(tmp_path / "step-000009")


def test_a_newer_format_is_one_plain_error(tmp_path):
    path = save(tmp_path, 1)
    manifest = json.loads((path / "manifest.json").read_text("utf-8"))
    (path / "manifest.json").write_text(json.dumps({**manifest, "format": 2}), "utf-8")
    with pytest.raises(RunError, match="format 2, this clearformer reads up to 1; upgrade"):
        load_checkpoint(path)


def test_generation_needs_no_optimizer(tmp_path):
    (save(tmp_path, 1) / "optimizer.safetensors").unlink()
    loaded = latest_model(tmp_path)
    assert loaded.step == 1
    assert loaded.optimizer == {}
    assert (loaded.model["norm"] == 1).all()
    with pytest.raises(RunError):
        load_latest(tmp_path)


@pytest.mark.parametrize(
    ("model", "state"),
    [
        ({"x": np.array([object()])}, {}),
        ({"x": np.array(["text"])}, {}),
        ({"__metadata__": np.zeros(1)}, {}),
        ({}, {"loss": float("nan")}),
        ({}, {"array": np.zeros(3)}),
        ({}, {"text": "\ud800"}),
    ],
)
def test_what_cannot_be_given_back_is_refused_before_the_first_byte(tmp_path, model, state):
    with pytest.raises(RunError, match=r"cannot write"):
        save_checkpoint(tmp_path / "new", 1, model=model, optimizer={}, state=state)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("step", "keep"), [(-1, 2), (1, 0), (1, -3)])
def test_steps_and_keep_are_checked(tmp_path, step, keep):
    with pytest.raises(ConfigurationError, match="keep >= 1"):
        save(tmp_path, step, keep)


def test_a_disk_too_small_is_refused_before_the_first_byte(tmp_path, monkeypatch):
    save(tmp_path, 1)
    usage = shutil._ntuple_diskusage(10**6, 10**6 - 50_000, 50_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(durable, "write_file", lambda *_: pytest.fail("wrote"))
    with pytest.raises(RunError, match=r"cannot save in .*[\d,]+ bytes needed, 50,000 free"):
        save(tmp_path, 2)
    assert names(tmp_path) == ["step-000001"]


def test_a_disk_that_does_not_tell_its_size_is_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(0, 0, 0))
    require_intact(load_checkpoint(save(tmp_path, 1)), 1)


def test_a_place_that_cannot_be_a_folder_is_one_plain_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RunError, match=r"cannot save .*file.checkpoints.*: \w+"):
        save(tmp_path / "file" / "checkpoints", 1)


def test_everything_is_synced_before_its_name_says_that_it_is_there(tmp_path):
    with Disk(tmp_path) as disk:
        save(tmp_path, 1)
    calls = [call for call in disk.calls if call.split()[0] in ("mkdir", "fsync", "replace")]
    assert calls == [
        "mkdir step-000001.tmp",
        *(f"fsync step-000001.tmp/{name}" for name in FILES),
        "fsync step-000001.tmp",
        "replace step-000001.tmp",
        "fsync .",
    ]


def test_old_saves_go_under_another_name_so_that_no_half_of_one_is_met(tmp_path):
    for step in (1, 2):
        save(tmp_path, step)
    with Disk(tmp_path) as disk:
        save(tmp_path, 3)
    going = disk.calls[disk.calls.index("replace step-000001") :]
    assert {call.split()[1].split("/")[0] for call in going[1:]} == {"step-000001.old.tmp"}
    assert [call.split()[0] for call in going if call[:4] in ("unli", "rmdi")] == [
        *["unlink"] * 4, "rmdir",
    ]  # fmt: skip


def test_every_file_is_complete_when_it_is_synced(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(durable, "sync", lambda file: sizes.append(os.fstat(file).st_size))
    path = save(tmp_path, 1)
    assert sizes == [(path / name).stat().st_size for name in FILES]


def test_ctrl_c_while_saving_leaves_nothing_half_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    for at in itertools.count(1):
        folder = tmp_path / f"{at}"
        for step in (1, 2):
            save(folder, step)
        with Disk(folder, at=at, error=KeyboardInterrupt) as disk:
            stopped = False
            try:
                save(folder, 3)
            except KeyboardInterrupt:
                stopped = True
        if not disk.met:
            break
        assert stopped
        assert not list(folder.glob("step-00000[0-9].tmp"))
        latest = load_latest(folder)
        require_intact(latest, latest.step)
        assert latest.step in (2, 3)
    assert at > 40


def test_a_run_that_was_removed_does_not_come_back_in_part(tmp_path):
    with pytest.raises(RunError, match=r"cannot save .*run.checkpoints.step-000001: No such file"):
        save(tmp_path / "run" / "checkpoints", 1)
    assert names(tmp_path) == []


def test_leftovers_of_interrupted_saves_go_and_nothing_else(tmp_path):
    stale = ["step-000004.tmp", "step-000001.old.tmp", "step-1234567.tmp"]
    others = ["step-4.tmp", "step-000004.tmp.tmp", "model.tmp", "step-000004.tmp2"]
    for name in (*stale, *others):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"half")
    (tmp_path / "step-000009.tmp").write_bytes(b"a file of somebody")
    save(tmp_path, 3)
    assert sorted(remove_stale(tmp_path)) == sorted(stale)
    assert names(tmp_path) == sorted([*others, "step-000009.tmp", "step-000003"])
    assert remove_stale(tmp_path / "missing") == ()


def test_a_leftover_of_the_same_step_does_not_hinder(tmp_path):
    (tmp_path / "step-000003.tmp").mkdir()
    (tmp_path / "step-000003.tmp" / "model.safetensors").write_bytes(b"half")
    require_intact(load_checkpoint(save(tmp_path, 3)), 3)
    assert names(tmp_path) == ["step-000003"]
