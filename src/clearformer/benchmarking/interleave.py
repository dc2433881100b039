"""Sides that take turns on one machine, A B A B …, each in a process of its own.

Turns, so that whatever else the machine does meanwhile meets all sides alike. Processes, so that
the threads, memory settings and garbage of one side neither help nor hinder another.

A side is a function that returns an iterator: what this yields first says in words how the side is
set up (its threads); from then on, each `next` does the work once, and says something about it in
words, or as a number the seconds of it that count.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from clearformer.engines.signals import signals_wait
from clearformer.errors import ClearformerError

Work = Iterator[str | float]

REST = 0.05
"""Seconds between two turns: threads of the last side that wait in a loop have gone to sleep."""

PATIENCE = 1.0
"""Seconds that a side has to end by itself."""


class Side:
    """One side, ready in its process.

    Args:
        make: a function at the top level of a module; called in the new process.
        arguments: what it is called with; must be picklable.

    Attributes:
        about: how the side says that it is set up.
        said: what it said when it last did the work.
    """

    def __init__(self, make: Callable[..., Work], **arguments: Any):
        context = get_context("spawn")  # a fork would share what is already loaded
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        with signals_wait():  # for good, there: whoever started it ends it
            self._process.start()
        theirs.close()
        try:
            self.about = self.said = str(self._answer())
        except BaseException:
            self.close()
            raise

    def take_turn(self, repeats: int) -> float:
        """Does the work `repeats` times; returns seconds for one."""
        self._pipe.send(repeats)
        seconds, self.said = self._answer()
        return float(seconds)

    def close(self) -> None:
        """Ends the process, also in the middle of its work."""
        self._pipe.close()
        self._process.join(PATIENCE)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()

    def _answer(self) -> Any:
        try:
            answer = self._pipe.recv()
        except EOFError:
            raise ClearformerError("one side ended without an answer; is memory short?") from None
        if isinstance(answer, _Fault):
            raise ClearformerError(answer.told)
        return answer


@dataclass(frozen=True)
class _Fault:
    """What went wrong on a side."""

    told: str


def _serve(pipe: Connection, make: Callable[..., Work], arguments: Mapping[str, Any]) -> None:
    """The life of a side: sets itself up, then works whenever it is asked to."""
    try:
        work = make(**arguments)
        answer: Any = next(work)
        while True:
            pipe.send(answer)
            repeats = pipe.recv()
            begun = time.perf_counter()
            said = [next(work) for _ in range(repeats)]
            spent = time.perf_counter() - begun
            counted = [each for each in said if isinstance(each, float)]
            answer = (sum(counted) if counted else spent) / repeats, str(said[-1])
    except (EOFError, BrokenPipeError):  # nobody asks any more
        return
    except Exception as error:  # whatever it is, it is told where somebody reads it
        pipe.send(_Fault(f"one side failed: {type(error).__name__}: {error}"))


def take_turns(
    turns: int,
    takers: Mapping[str, Callable[[], float]],
    warm_up: int = 1,
    progress: Callable[[float], None] | None = None,
) -> dict[str, list[float]]:
    """What each taker returned, for each of its turns; the first `warm_up` turns do not count."""
    taken: dict[str, list[float]] = {name: [] for name in takers}
    for turn in range(warm_up + turns):
        if progress:
            progress(turn / (warm_up + turns))
        for name, take in takers.items():
            time.sleep(REST)
            figure = take()
            if turn >= warm_up:
                taken[name].append(figure)
    return taken


def measure(
    sides: Mapping[str, Side],
    turns: int,
    repeats: int,
    progress: Callable[[float], None] | None = None,
    others: Mapping[str, Callable[[], float]] | None = None,
) -> dict[str, list[float]]:
    """Seconds for one piece of work, of each side in each of its turns; then ends the sides.

    `others` are sides that live in no process of ours: each call is a turn.
    """
    try:
        takers = {name: _taker(side, repeats) for name, side in sides.items()}
        return take_turns(turns, takers | dict(others or {}), progress=progress)
    finally:
        for side in sides.values():
            side.close()


def _taker(side: Side, repeats: int) -> Callable[[], float]:
    return lambda: side.take_turn(repeats)


def blas_limited(threads: int) -> AbstractContextManager[object]:
    """Inside, NumPy's matrix products use so many threads."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(threads, user_api="blas")
    return limits


def blas_threads() -> str:
    """How many threads NumPy's matrix products use now."""
    from threadpoolctl import threadpool_info

    counts = {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}
    return f"BLAS threads {', '.join(map(str, sorted(counts))) or 'unknown'}"
