"""Laws of processes that share out work: in order, bounded, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clearformer
from clearformer.corpora.crew import AHEAD, Crew
from clearformer.corpora.watch import StoppedError
from clearformer.errors import RunError, TextError

both = pytest.mark.parametrize("workers", [1, 2])

ENOUGH = 60  # seconds, for a process on a busy machine to be gone


def square(number, tell):
    tell(number)
    return number * number


def refuse(number, tell):
    raise TextError(f"number {number}")


def die(number, tell):
    os._exit(9)


def work_forever(number, tell):
    Path(number).touch()
    while True:
        time.sleep(0.01)
        tell(1)


def never_look_up(number, tell):
    Path(number).touch()
    time.sleep(100 * ENOUGH)


def identify(number, tell):
    return os.getpid()


@both
def test_results_come_in_order_and_work_is_counted(workers):
    with Crew(workers, lambda: None) as crew:
        assert list(crew.results(square, range(9))) == [n * n for n in range(9)]
        assert crew.done == sum(range(9))


def test_no_more_jobs_are_made_than_are_needed():
    taken = []

    def jobs():
        for number in range(20):
            taken.append(number)
            yield number

    with Crew(2, lambda: None) as crew:
        results = crew.results(square, jobs())
        next(results)
        assert len(taken) <= 2 + AHEAD


@both
def test_an_error_comes_back_as_itself(workers):
    with Crew(workers, lambda: None) as crew, pytest.raises(TextError, match="number 3"):
        list(crew.results(refuse, [3]))


def test_a_process_that_ends_at_once_is_told():
    with Crew(2, lambda: None) as crew, pytest.raises(RunError, match="ended before its work"):
        list(crew.results(die, [1]))


def test_after_a_rest_there_are_new_processes():
    with Crew(2, lambda: None) as crew:
        (before,) = crew.results(identify, [0])
        crew.rest()
        (after,) = crew.results(identify, [0])
        assert os.getpid() not in (before, after)
        assert before != after


@both
def test_looking_up_can_stop_the_work(tmp_path, workers):
    begun = tmp_path / "begun"

    def look():
        if begun.exists():
            raise StoppedError

    with pytest.raises(StoppedError), Crew(workers, look) as crew:
        list(crew.results(work_forever, [str(begun)] * 2))


def test_a_worker_that_does_not_look_up_does_not_keep_the_others_waiting(tmp_path):
    """Byte pairs are learned by a library, in one call."""
    begun = tmp_path / "begun"

    def look():
        if begun.exists():
            raise StoppedError

    with pytest.raises(StoppedError), Crew(2, look) as crew:
        list(crew.results(never_look_up, [str(begun)]))


SCRIPT = """
import sys
from corpora.test_crew import work_forever
from clearformer.corpora.crew import Crew

if __name__ == "__main__":
    with Crew(2, lambda: None) as crew:
        list(crew.results(work_forever, sys.argv[1:]))
"""


def workers_of(parent: int) -> set[int]:
    """The processes that a process has begun to work for it."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"spawn_main" in (folder / "cmdline").read_bytes()
            status = (folder / "status").read_text()
        except OSError:
            continue
        if is_worker and f"PPid:\t{parent}\n" in status:
            found.add(int(folder.name))
    return found


def is_there(number: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except OSError:
        return False


def wait_until(condition) -> None:
    end = time.monotonic() + ENOUGH
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    begun = [tmp_path / "1", tmp_path / "2"]
    source = Path(clearformer.__file__).parents[1]
    folders = f"{source}{os.pathsep}{Path(__file__).parents[1]}"
    process = subprocess.Popen(
        [sys.executable, str(script), *map(str, begun)], env={**os.environ, "PYTHONPATH": folders}
    )
    try:
        wait_until(lambda: all(path.exists() for path in begun))
        workers = workers_of(process.pid)
        assert len(workers) == 2
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not any(map(is_there, workers)))
    finally:
        process.kill()
        process.wait()
