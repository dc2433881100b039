"""What every test of a fault may ask for."""

import multiprocessing
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jaxtyping
import pytest

import clearformer
from cli.conftest import command  # noqa: F401 (a fixture, for those who import this)
from faults import tiny
from faults.children import PRELOADED, Child
from faults.programs import count_calls

ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(
        [str(Path(clearformer.__file__).parents[1]), str(Path(__file__).parents[1])]
    ),
    "PYTHONUTF8": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


@pytest.fixture(scope="package", autouse=True)
def unchecked_shapes() -> Iterator[None]:
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def server() -> None:
    """The process that others are forked from: without threads, which a fork would lose."""
    from multiprocessing import forkserver  # not on every system

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        forkserver.ensure_running()


@pytest.fixture
def child(tmp_path, server) -> Iterator[Callable[..., Child]]:
    """Starts a function in a process of its own; none of them outlives the test."""
    folder, started = tmp_path / "told", []
    folder.mkdir()

    def start(target: Callable[..., Any], *arguments: Any) -> Child:
        started.append(Child(folder, target, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def on_disk(tmp_path_factory) -> Path:
    """A folder on a disk that takes its time, where processes are killed at random moments."""
    return tmp_path_factory.mktemp("on-disk")


@pytest.fixture
def tmp_path(tmp_path_factory) -> Iterator[Path]:
    """A folder in memory where there is such a place: these tests make thousands of files."""
    memory = Path("/dev/shm")
    if not (memory.is_dir() and os.access(memory, os.W_OK)):
        yield tmp_path_factory.mktemp("faults")
        return
    with TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def text_file(tmp_path) -> Path:
    """A small text."""
    return tiny.text_in(tmp_path)


@pytest.fixture
def whole(tmp_path, text_file, child) -> tuple[dict[str, Any], list[str]]:
    """What `tiny.short_run` comes to when nothing fails, and its calls on the disk."""
    folder = tmp_path / "whole"
    folder.mkdir()
    counting = child(count_calls, tiny.short_run(folder / "run", text_file), folder)
    assert counting.end() == 0, counting.told()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) > 150
    return tiny.fingerprint(folder / "run"), calls
