"""Processes that share out work: results come in order, and little of it is in memory at once."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from typing import Any

from clearformer.corpora.watch import StoppedError
from clearformer.engines.signals import TERMINAL, signals_wait
from clearformer.errors import RunError

AHEAD = 2
"""Jobs that wait in addition to one for each process."""

LOOK_SECONDS = 0.2
"""How often the parent looks up while it waits."""

TIME_TO_STOP = 3.0
"""Seconds that a worker has to stop by itself."""

Tell = Callable[[int], None]
"""Called by a job with the amount of work it has done since; raises where it has to stop."""

Job = Callable[[Any, Tell], Any]


class Crew:
    """`with Crew(workers, look) as crew:` has processes of its own, or none for one worker.

    The processes start anew in a fresh Python (spawn), end when this one does, however it ends,
    and leave Ctrl-C to it.

    Attributes:
        done: all the work that jobs have told of.
    """

    def __init__(self, workers: int, look: Callable[[], None]) -> None:
        """`look` is called all the time while work goes on, and may raise to stop it."""
        self._workers, self._look = workers, look
        self._here = 0
        self._pool: ProcessPoolExecutor | None = None
        context = multiprocessing.get_context("spawn")
        self._context = context
        self._shared = (context.Value("Q", 0), context.RawValue("b", 0)) if workers > 1 else None

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shared:
            self._shared[1].value = 1
        self.rest()

    @property
    def done(self) -> int:
        """Read without the lock: whoever holds it may have been killed."""
        return self._shared[0].get_obj().value if self._shared else self._here

    def rest(self) -> None:
        """Ends the processes; the next job starts new ones, without the memory of these."""
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def results(self, function: Job, jobs: Iterable[Any]) -> Iterator[Any]:
        """`function(job, tell)` for each job, in order.

        Raises:
            RunError: a process ended before its job.
        """
        if not self._shared:
            for job in jobs:
                yield function(job, self._tell)
            return
        waiting: deque[Future[Any]] = deque()
        for job in jobs:
            waiting.append(self._begun(function, job))
            if len(waiting) >= self._workers + AHEAD:
                yield self._result(waiting.popleft())
        while waiting:
            yield self._result(waiting.popleft())

    def _tell(self, amount: int) -> None:
        self._here += amount
        self._look()

    def _begun(self, function: Job, job: Any) -> Future[Any]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._workers, self._context, initializer=_begin, initargs=(self._shared,)
            )
        with signals_wait():  # until a new process has said what to do about them
            return self._pool.submit(_work, function, job)

    def _result(self, future: Future[Any]) -> Any:
        while not wait([future], LOOK_SECONDS).done:
            self._look()
        self._look()
        try:
            return future.result()
        except BrokenProcessPool:
            raise RunError(
                "a worker process ended before its work, perhaps because the memory was full; "
                "the same command goes on from here, with fewer --workers it needs less memory"
            ) from None


_in_worker: Any = None
"""Of a worker: the counter and the flag that it shares with the parent."""


def _begin(shared: Any) -> None:
    """In a new process: leaves signals of the terminal to the parent, and ends with it."""
    global _in_worker  # noqa: PLW0603  # what a process is given when it starts
    _in_worker = shared
    for name in TERMINAL:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Also where it was told to stop and the job does not look up, as while byte pairs are learned.

    What it leaves half-written the next go removes.
    """
    parent, (_, stop) = multiprocessing.parent_process(), _in_worker
    if parent is not None:
        while not stop.value and not wait_for([parent.sentinel], LOOK_SECONDS):
            pass
        wait_for([parent.sentinel], TIME_TO_STOP)
        os._exit(1)


def _work(function: Job, job: Any) -> Any:
    counter, stop = _in_worker

    def tell(amount: int) -> None:
        with counter.get_lock():
            counter.value += amount
        if stop.value:
            raise StoppedError

    return function(job, tell)
