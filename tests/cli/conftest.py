"""Commands, run in this process or in one of their own, and a run to work with."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jaxtyping
import pytest

import clearformer
from clearformer.cli import main

TEXT = "the cat sat on the mat; the dog ran to the cat. " * 12

TINY = (
    *("--layers", "1", "--heads", "2", "--embed", "8", "--context", "8"),
    *("--batch", "4", "--steps", "12"),
)


@pytest.fixture(scope="package", autouse=True)
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str

    def refusal(self) -> str:
        """The one line with which it was refused: status 2, no result, no traceback."""
        assert self.status == 2, self
        assert self.out == ""
        assert self.err.startswith("clearformer: ")
        assert self.err.count("\n") == 1, self.err
        assert self.err.endswith("\n")
        assert "Traceback" not in self.err
        assert self.err.isprintable() or self.err[:-1].isprintable()
        return self.err


@pytest.fixture
def command(capsys) -> Callable[..., Outcome]:
    """Runs a command line in this process."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = main._show_note
            status = main._run([str(argument) for argument in arguments], debug=False)
        return Outcome(status, *capsys.readouterr())

    return run


ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(Path(clearformer.__file__).parents[1]),
    "PYTHONIOENCODING": "",
    "PYTHONUTF8": "0",
    "OPENBLAS_NUM_THREADS": "1",
}


@pytest.fixture
def process(tmp_path) -> Callable[..., Outcome]:
    """Runs a command line in a process of its own, in an empty folder."""

    def run(*arguments: object, **environment: str) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "clearformer", *map(str, arguments)],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            timeout=60,
            env=ENVIRONMENT | environment,
        )
        texts = (
            stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr)
        )
        return Outcome(done.returncode, *texts)

    return run


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> Path:
    """A run whose text lies beside it; only to be read."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    clearformer.train(
        folder / "tiny.txt",
        out=folder / "run",
        layers=1,
        heads=2,
        embed=8,
        context=8,
        batch=4,
        steps=40,
    )
    return folder / "run"


@pytest.fixture
def text_file(tmp_path) -> Path:
    """A small text."""
    path = tmp_path / "tiny.txt"
    path.write_text(TEXT, "utf-8")
    return path
