"""The traffic of a plan is what two processes really send each other."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import clearformer
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.cluster import ACCELERATORS, Cluster
from clearformer.training.cost import Cost

SCRIPT = Path(__file__).parent / "exchanging.py"

MODEL = ModelConfiguration(100, layers=3, heads=2, embed=64, context=16)

PADDING = 1.01
"""Each array is cut in equal pieces, for which a few zeros may be added."""


@pytest.mark.long
def test_traffic_is_what_two_processes_send():
    pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")
    together = ["--nproc-per-node", "2", "--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", *together, str(SCRIPT),
         json.dumps(MODEL.to_json())],
        env={**os.environ, "PYTHONPATH": str(Path(clearformer.__file__).parent.parent)},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("EXCHANGED ")]
    assert done.returncode == 0 and lines, done.stderr
    told = json.loads(lines[0].removeprefix("EXCHANGED "))
    for way in ("replicate", "shard"):
        for parts in (1, 3):
            sent = told[f"{way} {parts}"]
            cluster = Cluster(ACCELERATORS["L4"], 2)
            cost = Cost(MODEL, cluster, parts, way, "float32", accumulation=parts)
            # of 2, each sends half of what is gathered or scattered, and twice that to add up
            added = 2 * sent["added up"] if way == "replicate" else 0
            numbers = (sent["gathered"] + sent["scattered"] + added) / 2
            assert cost.traffic <= 4 * numbers <= PADDING * cost.traffic, (way, parts, sent)
