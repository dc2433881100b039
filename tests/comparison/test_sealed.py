"""What a comparison has kept is what it wrote, or it is refused."""

import json
import shutil

import pytest

from clearformer.comparison import study
from clearformer.comparison.compare import compare
from clearformer.errors import RunError

from .small import TEXT, small

TRIALS = ("01-ngram-count", "02-decoder-memory", "02-decoder-trial-seed-0", "why")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "study"
    small(folder=folder, seeds=1)
    reasons = {"why": {}, "temperature": {}}  # as if they had been measured, which takes long
    study.Folder(folder, study.begun_in(folder).plan).put("why", reasons)
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "study")


def refused(folder, match):
    with pytest.raises(RunError, match=match) as refusal:
        compare(TEXT, folder=folder, resume=True, why=True)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", TRIALS)
@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"found": {}}', b"\xff"])
def test_a_damaged_trial_is_one_line(folder, name, content):
    (folder / f"trials/{name}.json").write_bytes(content)
    refused(folder, f"{name}.json.* damaged|damaged.*{name}")


@pytest.mark.parametrize("name", TRIALS)
def test_a_changed_trial_is_never_taken(folder, name):
    file = folder / f"trials/{name}.json"
    document = json.loads(file.read_text("utf-8"))
    document["found"]["loss"] = 0.5
    file.write_text(json.dumps(document), "utf-8")
    refused(folder, f"{name}.json is damaged.*remove {name}.json")


def test_a_trial_of_another_comparison_is_never_taken(folder, tmp_path):
    small(folder=tmp_path / "other", seeds=1, context=4)
    name = "trials/02-decoder-trial-seed-0.json"
    shutil.copy(tmp_path / "other" / name, folder / name)
    refused(folder, "belongs to another comparison; remove 02-decoder-trial-seed-0.json")


@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
def test_damaged_weights_are_never_looked_into(folder, damage):
    (folder / "trials/why.json").unlink()
    file = folder / "trials/02-decoder-trial-seed-0.safetensors"
    content = bytearray(file.read_bytes())
    content[-3] ^= 64
    file.unlink()
    if damage != "gone":
        file.write_bytes(content if damage == "flipped" else content[:-1])
    refused(folder, "remove 02-decoder-trial-seed-0.json, and that part is done again")


def test_a_part_that_was_removed_is_done_again(folder):
    before = compare(TEXT, folder=folder, resume=True, why=False)
    (folder / "trials/02-decoder-trial-seed-0.json").unlink()
    again = compare(TEXT, folder=folder, resume=True, why=False)
    assert [each.loss for each in again.results] == [each.loss for each in before.results]
