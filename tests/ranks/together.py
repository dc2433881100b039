"""Run by `torchrun`: goes through a plan in every rank, and writes what came of it.

Starting processes takes seconds, so one start proves many laws.
"""

import contextlib
import errno
import gc
import io
import json
import shutil
import signal
import sys
import time
from pathlib import Path
from unittest import mock

import torch

from clearformer.cli.main import entry
from clearformer.engines.choose import join_ranks
from clearformer.engines.ranks import processes_here, rank_here
from clearformer.engines.torch import watch
from clearformer.errors import RunError
from clearformer.training import checkpoint
from clearformer.training.loop import Loop
from clearformer.training.run_folder import RunFolder
from ranks.curves import CASES, curve
from ranks.plans import CTRL_C, STOP_AT

RANK, RANKS = rank_here(), processes_here()


def curves(names: list[str]) -> dict:
    """The curve of each case, in both ways of training in several processes."""
    with join_ranks("torch", "cpu") as ranks:
        return {
            f"{name}, {parallel}": curve(CASES[name], parallel, ranks)
            for name in names
            for parallel in ("replicate", "shard")
        }


def command(arguments: list[str], accident: str | None = None) -> dict:
    """What `clearformer ARGUMENTS…` prints, and its exit status; "{rank}" stands for the rank."""
    out, error = io.StringIO(), io.StringIO()
    with (
        accident_of(accident),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        status = None
        try:
            entry([argument.replace("{rank}", str(RANK)) for argument in arguments])
        except SystemExit as end:
            status = end.code
    gc.collect()  # a connection that is still referred to would not be closed
    return {"status": status, "out": out.getvalue(), "error": error.getvalue()}


def last(arguments: list[str], accident: str) -> None:
    """A command in which only rank 0 meets a fault, which the others cannot know of."""
    with accident_of(accident):
        entry(arguments)


def copy(source: str, *targets: str) -> None:
    """Copies a run."""
    if RANK == 0:
        for target in targets:
            shutil.copytree(source, target)


def accident_of(name: str | None) -> contextlib.AbstractContextManager:
    """What goes wrong, on rank 0 alone."""
    if name is None or RANK:
        return contextlib.nullcontext()
    full = OSError(errno.ENOSPC, "No space left on device")
    if name == "the disk is full":
        return mock.patch.object(checkpoint, "write_file", side_effect=full)
    if name == "the log cannot be written":
        broken = RunError("cannot write log.jsonl: No space left on device")
        return mock.patch.object(RunFolder, "log", side_effect=broken)
    assert name == CTRL_C
    step = Loop.one_step

    def interrupted(self: Loop) -> tuple[float, float, float]:
        told = step(self)
        if self.step == STOP_AT:
            signal.raise_signal(signal.SIGINT)
        return told

    return mock.patch.object(Loop, "one_step", interrupted)


def wait_for_all(name: str) -> None:
    """Returns when all ranks have come here."""
    Path(f"{RANKS} {name} {RANK}").touch()
    while not all(Path(f"{RANKS} {name} {rank}").exists() for rank in range(RANKS)):
        time.sleep(0.01)


ACTIONS = {"curves": curves, "command": command, "copy": copy, "last": last}


def main() -> None:
    torch.set_num_threads(1)
    gc.freeze()  # so that each `gc.collect` looks at what is new
    # the processes live on after a fault, and here they may take their time
    watch.TIME_TO_END = watch.TIME_TO_LEAVE = 600.0
    plan, results = json.loads(Path(sys.argv[1]).read_text("utf-8")), {}
    for name, action, arguments in plan:
        results[name] = ACTIONS[action](*arguments)
        Path(f"rank-{RANK}.json").write_text(json.dumps(results), "utf-8")
        wait_for_all(name)  # nobody begins the next before all have done this


if __name__ == "__main__":
    main()
