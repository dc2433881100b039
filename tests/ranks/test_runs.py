"""A run of several processes: one of them writes and prints, and any number goes on with it."""

import hashlib
import json
from pathlib import Path

import pytest

import clearformer as cf
from ranks.plans import FAULTS, STOP_AT
from runs.tiny import TEXT

pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")


def log_of(run):
    return [json.loads(line) for line in (run / "log.jsonl").read_text("utf-8").splitlines()]


def digests_of(run):
    save = max((run / "checkpoints").iterdir())
    return [
        hashlib.sha256((save / name).read_bytes()).hexdigest()
        for name in ("model.safetensors", "optimizer.safetensors")
    ]


def test_a_run_prints_one_json_document(two):
    first, second = (rank["whole"] for rank in two)
    assert (first["status"], second["status"]) == (0, 0)
    assert json.loads(first["out"])["steps"] == 12
    assert (second["out"], second["error"]) == ("", "")


def test_a_run_is_written_once(two, folder):
    log = log_of(folder / "whole")
    for kind in ("train_loss", "validation_loss"):
        steps = [entry["step"] for entry in log if kind in entry]
        assert steps == sorted(set(steps))
        assert steps[-1] == 12
    assert (folder / "whole" / "samples.txt").read_text("utf-8").count("=== step 12 ===") == 1
    assert sorted(path.name for path in (folder / "whole").iterdir()) == [
        "checkpoints", "lock", "log.jsonl", "run.json", "samples.txt", "tokenizer.json",
    ]  # fmt: skip


def test_a_signal_to_one_rank_stops_all_after_the_same_step(two, folder):
    assert [rank["stopped"]["status"] for rank in two] == [130, 130]
    told = [line for rank in two for line in rank["stopped"]["error"].splitlines()]
    assert [line for line in told if line.startswith("clearformer: ")] == [
        f"clearformer: stopped after step {STOP_AT} and saved; go on with: "
        "torchrun --nproc-per-node 2 -m clearformer train --resume --out stopped"
    ]
    assert [path.name for path in (folder / "stopped" / "checkpoints").iterdir()] == [
        f"step-{STOP_AT:06}"
    ]


def near_the_whole(two):
    whole = json.loads(two[0]["whole"]["out"])
    return {
        name: pytest.approx(whole[name], abs=1e-6) for name in ("train_loss", "validation_loss")
    }


def losses_in(summary):
    return {name: summary[name] for name in ("train_loss", "validation_loss")}


@pytest.mark.parametrize("ranks", ["2", "4"])
def test_saved_on_two_and_resumed_on_several(ranks, two, four):
    told = json.loads((two if ranks == "2" else four)[0][f"on-{ranks}"]["out"])
    assert told["steps"] == 12
    assert losses_in(told) == near_the_whole(two)


@pytest.mark.parametrize(("run", "engine"), [("on-1", "torch"), ("on-numpy", "numpy")])
def test_saved_on_two_and_resumed_on_one(run, engine, two, folder, monkeypatch):
    monkeypatch.chdir(folder)
    told = cf.train(out=run, resume=True, engine=engine).summary
    assert told["steps"] == 12
    assert losses_in(told) == near_the_whole(two)


def test_a_stopped_run_ends_in_the_same_bits(two, folder):
    assert digests_of(folder / "on-2") == digests_of(folder / "whole")
    assert digests_of(folder / "halves") == digests_of(folder / "sharded")


def test_muon_in_several_processes_learns_as_in_one(two, folder, monkeypatch):
    """With the whole model or parts of it; or begun in two, and gone on with in two or in one."""
    told = {
        name: json.loads(two[0][f"muon {name}"]["out"]) for name in ("replicate", "shard", "on 2")
    }
    monkeypatch.chdir(folder)
    found = cf.train(out="muon-on-numpy", resume=True, engine="numpy").summary
    expected = {name: pytest.approx(x, abs=1e-5) for name, x in losses_in(found).items()}
    for name, summary in told.items():
        assert losses_in(summary) == expected, name
    assert digests_of(folder / "muon-on-2") == digests_of(folder / "muon-shard")


def test_states_are_carried_by_several_as_by_one(two, folder, monkeypatch):
    """Trained in two processes, or in one; or begun in two, and gone on with in two or in one."""
    monkeypatch.chdir(folder)
    alone = Path("alone.txt")
    alone.write_text(TEXT, "utf-8")
    dials = {"layers": 2, "embed": 8, "hidden": 7, "context": 8, "batch": 5, "accumulation": 2}
    told = cf.train(
        alone, out="lstm-alone", model="lstm", engine="torch", device="cpu", precision="float32",
        steps=14, evaluations=2, **dials,
    ).summary  # fmt: skip
    expected = {name: pytest.approx(value, abs=1e-6) for name, value in losses_in(told).items()}
    for name in ("lstm", "lstm sharded", "lstm on 2"):
        assert losses_in(json.loads(two[0][name]["out"])) == expected, name
    assert losses_in(cf.train(out="lstm-on-1", resume=True).summary) == expected
    assert digests_of(folder / "lstm-on-2") == digests_of(folder / "lstm")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_once_and_ends_all(fault, two):
    said = FAULTS[fault][2]
    told = [line for rank in two for line in rank[fault]["error"].splitlines()]
    lines = [line for line in told if line.startswith("clearformer: ")]
    assert len(lines) == 1, told
    assert said in lines[0]
    assert [rank[fault]["status"] for rank in two] == [2, 2]
    assert not any("Traceback" in line for line in told)


def test_a_fault_that_only_rank_0_can_know_of_ends_all(two_processes):
    processes, _ = two_processes
    assert processes.told() == ["clearformer: cannot write log.jsonl: No space left on device"]
    assert processes.end() != 0


def test_nothing_is_left_of_a_run_that_did_not_begin(two, folder):
    assert not (folder / "a").exists()
    assert not (folder / "none").exists()
