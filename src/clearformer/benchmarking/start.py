"""How quickly things start, in fresh processes.

Wall time of whole processes that take turns: Python alone, with NumPy, with clearformer, and two
commands. What clearformer adds is the difference from NumPy in the same turn. A command that fails
is reported as failed and not timed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import clearformer as cf
from clearformer.benchmarking.interleave import take_turns
from clearformer.benchmarking.report import Figures, Report
from clearformer.errors import ClearformerError

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "python": ("-c", "pass"),
    "import numpy": ("-c", "import numpy"),
    "import numpy, clearformer": ("-c", "import numpy, clearformer"),
    "… and look up cf.train": ("-c", "import numpy, clearformer as cf; cf.train"),
    "clearformer --help": ("-m", "clearformer", "--help"),
    "clearformer explain": ("-m", "clearformer", "explain", "I like small models"),
}


PEER = "import numpy"

FIRST_STEP = """
import os, sys
from clearformer.training.loop import Loop
step = Loop.one_step
def first(loop):
    step(loop)
    os._exit(0)
Loop.one_step = first
from clearformer.__main__ import start
start()
os._exit(1)
"""
"""`clearformer` that ends as soon as its first step of training is done."""


def environment() -> dict[str, str]:
    """That of this process, in which the children find the same clearformer."""
    package = str(Path(cf.__file__).parent.parent)
    paths = [package, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"}


def failure(arguments: Sequence[str], env: Mapping[str, str]) -> str | None:
    """Why a command cannot be timed, if it cannot."""
    done = subprocess.run(
        [sys.executable, *arguments], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return f"failed with exit status {done.returncode}: {last}"


def process(
    arguments: Sequence[str], env: Mapping[str, str], prepare: Callable[[], None] = lambda: None
) -> Callable[[], float]:
    """Takes the milliseconds of a fresh process, each time after `prepare`."""

    def take() -> float:
        prepare()
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return 1e3 * (time.perf_counter() - begun)

    return take


def starts(turns: int) -> Report:
    """The time of each command that works."""
    report = Report("start", {"turns": turns}, "milliseconds of a fresh process", compares=False)
    report.look_around()
    env = environment()
    takers = {}
    for name, arguments in COMMANDS.items():
        fault = failure(arguments, env)
        if fault:
            report.note(f"{name}: {fault}")
        else:
            takers[name] = process(arguments, env)
    report.take(take_turns(turns, takers))
    numpy, both = (report.sides[name].samples for name in list(COMMANDS)[1:3])
    added = tuple(b - a for a, b in zip(numpy, both, strict=True))
    report.sides["import clearformer adds"] = Figures(added)
    return report


def one(name: str, turns: int, progress: Callable[[float], None] | None = None) -> Report:
    """One of the commands, beside a Python that only loads NumPy."""
    return _beside_numpy(COMMANDS[name], turns, progress)


def first_step(text: str, turns: int, progress: Callable[[float], None] | None = None) -> Report:
    """From the start of `clearformer train` to its first step, on this text, as a file."""
    with TemporaryDirectory() as folder:
        file, out = Path(folder) / "text.txt", Path(folder) / "run"
        file.write_text(text, "utf-8")
        arguments = ("-c", FIRST_STEP, "train", str(file), "--out", str(out))

        def prepare() -> None:
            rmtree(out, ignore_errors=True)

        return _beside_numpy(arguments, turns, progress, prepare)


def _beside_numpy(
    arguments: tuple[str, ...],
    turns: int,
    progress: Callable[[float], None] | None,
    prepare: Callable[[], None] = lambda: None,
) -> Report:
    report = Report("start", {"turns": turns}, "seconds of a fresh process")
    report.look_around()
    env = environment()
    prepare()
    fault = failure(arguments, env)
    if fault:
        raise ClearformerError(f"the command {fault}")
    takers = {"clearformer": process(arguments, env, prepare)}
    takers[PEER] = process(COMMANDS[PEER], env)
    taken = take_turns(turns, takers, progress=progress)
    report.take({name: [each / 1e3 for each in taken[name]] for name in taken})
    return report
