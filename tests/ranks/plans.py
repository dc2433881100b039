"""What two and four processes do in one start each."""

import json
from pathlib import Path

from ranks.curves import CASES
from ranks.torchrun import Started, torchrun
from runs.tiny import TEXT

SIZES = ["--layers", "1", "--heads", "2", "--embed", "8", "--context", "8", "--batch", "5",
         "--accumulation", "2", "--steps", "12", "--evaluations", "3"]  # fmt: skip

MACHINE = ["--engine", "torch", "--device", "cpu", "--precision", "float32"]

TRAIN = ["train", "text.txt", *SIZES, *MACHINE]

MUON = [*TRAIN, "--optimizer", "muon"]

LSTM = ["train", "text.txt", "--model", "lstm", "--layers", "2", "--embed", "8", "--hidden", "7",
        "--context", "8", "--batch", "5", "--accumulation", "2", "--steps", "14",
        "--evaluations", "2", *MACHINE]  # fmt: skip
"""A model that carries its state; 12 steps are one reading of the text."""

CTRL_C = "somebody presses Ctrl-C"

STOP_AT = 6
"""The step after which this happens."""

FAULTS = {
    "the folder is taken": ([*TRAIN, "--out", "whole"], None, "whole already holds a run"),
    "no text": (["train", "no.txt", *MACHINE, "--out", "a"], None, "no.txt does not exist"),
    "no text on rank 1": (
        ["train", "only-{rank}.txt", *MACHINE, "--out", "a"],
        None,
        "rank 1 of 2: only-1.txt does not exist",
    ),
    "another text on rank 1": (
        ["train", "text-{rank}.txt", *SIZES, *MACHINE, "--out", "a"],
        None,
        "rank 1 has another text than rank 0",
    ),
    "other dials on rank 1": (
        [*TRAIN, "--out", "a", "--seed", "{rank}"],
        None,
        "rank 1 has other dials than rank 0",
    ),
    "a full disk": ([*TRAIN, "--out", "a"], "the disk is full", "cannot save a/checkpoints"),
    "not finite": ([*TRAIN, "--out", "a", "--learning-rate", "1e12"], None, "not finite"),
    "no such option": (["train", "--nonsense"], None, "No such option '--nonsense'"),
    "no run": (["train", "--resume", "--out", "none"], None, "there is no run at none"),
    "the engine numpy": (
        ["train", "text.txt", "--engine", "numpy"],
        None,
        "2 processes were started together, and the engine numpy trains in one",
    ),
}
"""For each its arguments, what happens to rank 0 alone, and what the one line says."""

TWO = [
    ("curves", "curves", [list(CASES)]),
    ("whole", "command", [[*TRAIN, "--out", "whole", "--json"]]),
    ("stopped", "command", [[*TRAIN, "--out", "stopped"], CTRL_C]),
    ("copied", "copy", ["stopped", "on-1", "on-2", "on-4", "on-numpy"]),
    ("on-2", "command", [["train", "--resume", "--out", "on-2", "--json"]]),
    ("sharded", "command", [[*TRAIN, "--out", "sharded", "--parallel", "shard",
                             "--dropout", "0.2"]]),
    ("halves", "command", [[*TRAIN, "--out", "halves", "--parallel", "shard",
                            "--dropout", "0.2"], CTRL_C]),
    ("second half", "command", [["train", "--resume", "--out", "halves"]]),
    *((f"muon {how}", "command", [[*MUON, "--out", f"muon-{how}", "--parallel", how, "--json"]])
      for how in ("replicate", "shard")),
    ("muon stopped", "command", [[*MUON, "--out", "muon-stopped", "--parallel", "shard"], CTRL_C]),
    ("muon copied", "copy", ["muon-stopped", "muon-on-numpy", "muon-on-2"]),
    ("muon on 2", "command", [["train", "--resume", "--out", "muon-on-2", "--json"]]),
    ("lstm", "command", [[*LSTM, "--out", "lstm", "--json"]]),
    ("lstm sharded", "command", [[*LSTM, "--out", "lstm-sharded", "--parallel", "shard",
                                  "--json"]]),
    ("lstm stopped", "command", [[*LSTM, "--out", "lstm-stopped"], CTRL_C]),
    ("lstm copied", "copy", ["lstm-stopped", "lstm-on-1", "lstm-on-2"]),
    ("lstm on 2", "command", [["train", "--resume", "--out", "lstm-on-2", "--json"]]),
    *((f"encoder-{how}", "command", [[*TRAIN, "--model", "encoder", "--out", f"encoder-{how}",
                                      "--parallel", how, "--json"]])
      for how in ("replicate", "shard")),
    *((name, "command", [arguments, accident])
      for name, (arguments, accident, _) in FAULTS.items()),
    ("no log", "last", [[*TRAIN, "--out", "a"], "the log cannot be written"]),
]  # fmt: skip

FOUR = [
    ("curves", "curves", [["float64", "ranks without a row", "parts without a row"]]),
    ("on-4", "command", [["train", "--resume", "--out", "on-4", "--json", "--parallel", "shard"]]),
]


def write_texts(folder: Path) -> None:
    """The texts that the plans read."""
    for name in ("text.txt", "text-0.txt", "only-0.txt"):
        (folder / name).write_text(TEXT, "utf-8")
    (folder / "text-1.txt").write_text(TEXT.replace("cat", "cow"), "utf-8")


def gone_through(plan: list, ranks: int, folder: Path) -> tuple[Started, list[dict]]:
    """The processes after they have gone through a plan, and what each rank has found."""
    (folder / "plan.json").write_text(json.dumps(plan), "utf-8")
    with torchrun(ranks, Path(__file__).parent / "together.py", "plan.json", folder=folder) as all_:
        all_.end()
    found = [json.loads((folder / f"rank-{rank}.json").read_text("utf-8")) for rank in range(ranks)]
    done = [name for name, action, _ in plan if action != "last"]
    assert all(list(results) == done for results in found), all_.error
    return all_, found
