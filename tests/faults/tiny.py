"""Runs so small that one takes a moment, and what must be the same in two of them."""

import hashlib
import json
import signal
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.training.checkpoint import Checkpoint, load_latest, save_checkpoint
from clearformer.training.events import Reporter

ENGINES = ["numpy", *(["torch"] if find_spec("torch") else [])]
"""Whatever must hold on every engine is parametrised with these."""

TEXT = "the cat sat on the mat; the dog ran to the cat. " * 12

DIALS: dict[str, Any] = {"layers": 1, "heads": 2, "embed": 8, "context": 8, "batch": 4, "steps": 24}
"""64 windows, 4 in a batch: one and a half times through the text."""

TIMES = ("seconds", "other_seconds")
"""What two runs never have in common."""


def flags(**changed: Any) -> list[str]:
    """DIALS for the command line."""
    return [
        part
        for name, value in (DIALS | changed).items()
        for part in (f"--{name.replace('_', '-')}", str(value))
    ]


def short_run(run: Path, text: Path) -> list[str]:
    """A command line that trains for four steps and saves after each."""
    return ["train", str(text), *flags(steps=4), "--save-seconds", "1e-9", "--out", str(run)]


class StopAt(Reporter):
    """Presses Ctrl-C after a step."""

    def __init__(self, step: int) -> None:
        self.number = step

    def step(self, step: Any) -> None:
        if step.step == self.number:
            signal.raise_signal(signal.SIGINT)


def text_in(folder: Path) -> Path:
    """The text as a file."""
    path = folder / "tiny.txt"
    path.write_text(TEXT, "utf-8")
    return path


def fingerprint(run: Path) -> dict[str, Any]:
    """SHA-256 of the weights and of the optimizer of the newest save, and what else is in it."""
    saved = load_latest(run / "checkpoints")
    assert saved.notes == ()
    rest = {name: value for name, value in saved.state.items() if name not in TIMES}
    return {
        "step": saved.step,
        "weights": digest(saved.model),
        "optimizer": digest(saved.optimizer),
        "random state and the rest": hashlib.sha256(json.dumps(rest).encode()).hexdigest(),
    }


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of names and bytes."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(name.encode() + arrays[name].tobytes())
    return found.hexdigest()


def save(folder: Path, step: int, size: int = 6, keep: int = 2) -> Path:
    """A save in which every number is its step."""
    return save_checkpoint(
        folder,
        step,
        model={"query": np.full((2, size // 2), step, np.float32), "norm": np.full(2, step)},
        optimizer={"first": np.full(size, step, np.float32)},
        state={"step": step, "generator": {"state": 2**127 + step}},
        keep=keep,
    )


def require_intact(saved: Checkpoint, step: int) -> None:
    """Raises unless this is what `save` has saved."""
    assert saved.step == step
    assert saved.state == {"step": step, "generator": {"state": 2**127 + step}}
    assert set(saved.model) == {"query", "norm"}
    assert set(saved.optimizer) == {"first"}
    for array in (*saved.model.values(), *saved.optimizer.values()):
        assert (array == step).all()


def leftovers(folder: Path) -> list[str]:
    """Whatever is half-written below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.tmp"))


def files_in(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder below, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
