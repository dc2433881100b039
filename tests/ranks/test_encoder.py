"""An encoder learns, and is judged, in two processes as in one."""

import json

import pytest

import clearformer as cf

from .test_runs import log_of


@pytest.mark.parametrize("how", ["replicate", "shard"])
def test_two_processes_reach_what_one_reaches(how, two, folder, tmp_path):
    found = json.loads(two[0][f"encoder-{how}"]["out"])
    alone = cf.train(
        folder / "text.txt", out=tmp_path / "run", model="encoder", layers=1, heads=2, embed=8,
        context=8, batch=5, accumulation=2, steps=12, evaluations=3,
    )  # fmt: skip
    for name in ("steps", "tokens_seen", "train_loss", "validation_loss", "bits_per_character"):
        assert found[name] == pytest.approx(alone.summary[name], abs=1e-6), name
    accuracies = [
        [entry["accuracy"] for entry in log_of(run) if "accuracy" in entry]
        for run in (folder / f"encoder-{how}", alone.path)
    ]
    assert accuracies[0][-1] == accuracies[1][-1]
