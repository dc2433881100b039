"""Laws of a power cut: what was reported as saved is there, and nothing else is taken for it."""

import os
import random
import re
import shutil

import pytest

from clearformer.errors import ClearformerError, RunError
from clearformer.text.tokenizer import build_tokenizer, load_tokenizer, tokenizer_file
from clearformer.training.checkpoint import load_checkpoint, load_latest, save_checkpoint
from clearformer.training.run_folder import RunFolder
from faults.counts import few_or_all
from faults.power import Recorder, at_power_cut
from faults.tiny import TEXT, leftovers, require_intact, save

SIZE = 6_000
"""Numbers in a save: several sectors."""


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    """The images are cut off by other means; syncing them would only take long."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The calls of a run that is begun, saved eight times, and lengthened on the way."""
    root = tmp_path_factory.mktemp("recorded")
    tokenizer = build_tokenizer("characters", TEXT)
    with Recorder(root) as disk:
        run = RunFolder.create(root / "runs" / "run")
        with run.locked():
            run.write_tokenizer(tokenizer_file(tokenizer))
            run.write_configuration({"steps": 4})
            disk.report(steps=4)
            for step in range(1, 9):
                run.log({"step": step})
                run.add_sample(step, "text " * step)
                save(run.checkpoints, step, SIZE)
                disk.report(saved=step)
                if step == 4:
                    run.truncate_log(3)
                    run.truncate_samples(3)
                    run.write_configuration({"steps": 8})
                    disk.report(steps=8)
    return disk.events, tokenizer.fingerprint


@few_or_all("images", 300, 4000)
def test_whatever_a_power_cut_leaves_no_reported_save_is_lost_and_no_wrong_one_accepted(
    tmp_path, recorded, images
):
    events, fingerprint = recorded
    luck = random.Random(images)
    passed_over = 0
    for number in range(images):
        image = tmp_path / f"{number}"
        reports = at_power_cut(events[: luck.randint(0, len(events))], image, luck)
        path = image / "runs" / "run"
        require_configuration(path, reports, fingerprint)
        passed_over += require_saves(path / "checkpoints", reports.get("saved", 0))
        shutil.rmtree(image)
    assert passed_over  # else nothing was ever torn


def require_configuration(path, reports, fingerprint):
    """Whole, of before or after the change; and never without the tokenizer it vouches for."""
    if not reports and not (path / "run.json").exists():
        return
    run = RunFolder.open(path)
    assert run.configuration["steps"] in {4, 8} - ({4} if reports.get("steps") == 8 else set())
    assert load_tokenizer(run.tokenizer_path).fingerprint == fingerprint
    run.truncate_log(100)
    run.truncate_samples(100)
    with run.locked():
        run.remove_stale()
        run.log({"step": 100})
    assert run.read_log()[-1] == {"step": 100}


def require_saves(folder, reported):
    """What can be read is right, and the newest of it is not older than reported."""
    steps, torn = [], 0
    for path in folder.glob("step-??????"):
        try:
            require_intact(load_checkpoint(path), int(path.name[5:]))
            steps.append(int(path.name[5:]))
        except RunError:
            torn += 1
    if reported or steps:
        latest = load_latest(folder)
        assert latest.step == max(steps)
        assert latest.step >= reported
        save(folder, 9)
        require_intact(load_latest(folder), 9)
        assert not [name for name in leftovers(folder) if name.startswith("step-000009")]
    return torn


@few_or_all("images", 100, 1000)
def test_without_syncing_saves_would_be_lost(tmp_path, recorded, images):
    """The images are cruel enough: what is never synced does not survive them."""
    events = [event for event in recorded[0] if event[0] != "fsync"]
    luck, lost = random.Random(images), 0
    for number in range(images):
        image = tmp_path / f"{number}"
        reports = at_power_cut(events[: luck.randint(0, len(events))], image, luck)
        try:
            found = load_latest(image / "runs" / "run" / "checkpoints").step
        except ClearformerError:
            found = 0
        lost += found < reports.get("saved", 0)
        shutil.rmtree(image, ignore_errors=True)
    assert lost > images / 4


@pytest.mark.parametrize("left_out", ["a file", "the folder of a save", "the folder of all saves"])
def test_each_of_the_syncs_is_needed(tmp_path, left_out):
    """Leaving out one kind of them alone loses saves in some of the images."""
    (tmp_path / "disk").mkdir()
    with Recorder(tmp_path / "disk") as disk:
        for step in range(1, 5):
            save_checkpoint(
                tmp_path / "disk" / "checkpoints", step,
                model={}, optimizer={}, state={"text": "x" * 5000},
            )  # fmt: skip
            disk.report(saved=step)
    kind = {
        "a file": ".*.tmp/.*",
        "the folder of a save": ".*.tmp",
        "the folder of all saves": "checkpoints",
    }[left_out]
    kept = [
        event for event in disk.events if event[0] != "fsync" or not re.fullmatch(kind, event[1])
    ]
    assert len(kept) < len(disk.events)
    luck, lost = random.Random(1), 0
    for number in range(60):
        image = tmp_path / f"{number}"
        reports = at_power_cut(kept[: luck.randint(0, len(kept))], image, luck)
        try:
            lost += load_latest(image / "checkpoints").step < reports.get("saved", 0)
        except ClearformerError:
            lost += "saved" in reports
    assert lost
