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

import clearformer as cf
from clearformer.benchmarking.interleave import take_turns
from clearformer.benchmarking.report import Figures, Report

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "python": ("-c", "pass"),
    "import numpy": ("-c", "import numpy"),
    "import numpy, clearformer": ("-c", "import numpy, clearformer"),
    "… and look up cf.train": ("-c", "import numpy, clearformer as cf; cf.train"),
    "clearformer --help": ("-m", "clearformer", "--help"),
    "clearformer explain": ("-m", "clearformer", "explain", "I like small models"),
}


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


def process(arguments: Sequence[str], env: Mapping[str, str]) -> Callable[[], float]:
    """Takes the milliseconds of a fresh process."""

    def take() -> float:
        begun = time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
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
