"""Starts real processes with `torchrun`, and sees to it that none is left."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import clearformer

PATIENCE = 240.0
"""Seconds that anything may take on a machine that is busy."""

TESTS = Path(__file__).parent.parent


class Started:
    """A `torchrun` with its processes."""

    def __init__(self, ranks: int, arguments: Sequence[str], folder: Path) -> None:
        self._said = Path(tempfile.mkdtemp(prefix="said-", dir=folder))
        source = Path(clearformer.__file__).parent.parent
        mine = {"PYTHONPATH": f"{source}{os.pathsep}{TESTS}", "COLUMNS": "200"}
        theirs = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GLOO_", "NCCL_", "MASTER_", "TORCHELASTIC_", "PYTEST_"))
        }
        with (self._said / "out").open("wb") as out, (self._said / "error").open("wb") as error:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "torch.distributed.run", "--standalone",
                 "--nproc-per-node", str(ranks), *arguments],
                cwd=folder, env=theirs | mine, stdout=out, stderr=error, start_new_session=True,
            )  # fmt: skip

    @property
    def is_over(self) -> bool:
        """Whether `torchrun` has ended."""
        return self.process.poll() is not None

    @property
    def out(self) -> str:
        """What came to standard output so far."""
        return (self._said / "out").read_text("utf-8")

    @property
    def error(self) -> str:
        """What came to standard error so far."""
        return (self._said / "error").read_text("utf-8")

    def told(self) -> list[str]:
        """The lines that clearformer has told, of all processes; not those of PyTorch."""
        return [line for line in self.error.splitlines() if line.startswith("clearformer: ")]

    def workers(self) -> dict[int, int]:
        """The number of each process, by rank."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return {
            rank: pid for pid in map(int, path.read_text().split()) if (rank := _rank(pid)) >= 0
        }

    def until(self, condition) -> None:
        """Waits for a condition, which must come before the end."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert not self.is_over, self.error
            assert time.monotonic() < deadline, self.error
            time.sleep(0.05)

    def end(self) -> int:
        """Waits for the end; the exit status."""
        return self.process.wait(PATIENCE)


@contextmanager
def torchrun(ranks: int, *arguments: str | Path, folder: Path) -> Iterator[Started]:
    """`torchrun --nproc-per-node RANKS ARGUMENTS…`; whatever is left of it in the end is killed."""
    started = Started(ranks, [str(argument) for argument in arguments], folder)
    try:
        yield started
    finally:
        if not started.is_over:
            for pid in (*started.workers().values(), started.process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            started.process.wait()


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _rank(pid: int) -> int:
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if entry.startswith(b"RANK="):
                return int(entry[5:])
    return -1
