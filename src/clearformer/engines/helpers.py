"""Threads that help the one that runs a tape: large products are shared out, short steps not."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import pairwise
from typing import Any

Job = Callable[[], Any]
"""Writes its result into room of its own."""


class Helpers:
    """So many threads of a pool; without one, whoever asks does everything alone.

    A job is one large call of NumPy, during which other threads run. A helper that came back to the
    interpreter again and again would stop the steps that are made meanwhile.

    Attributes:
        count: how many threads help.
    """

    def __init__(self, pool: Executor | None = None, count: int = 0):
        self._pool = pool
        self.count = count if pool else 0

    def ask(self, job: Job) -> Job:
        """Asks for a job; what is returned sees to it that it is done.

        Where nobody has begun by then, the caller does it: it never waits for what it could do.
        What is computed does not depend on who computes it.
        """
        if self._pool is None:
            return job
        asked = self._pool.submit(job)
        return lambda: job() if asked.cancel() else asked.result()

    def share(self, jobs: Sequence[Job]) -> None:
        """Does all of them: helpers take them from the first on, the caller from the last."""
        for finish in reversed([self.ask(job) for job in jobs]):
            finish()


ALONE = Helpers()
"""Nobody helps."""


def parted(rows: slice, parts: int) -> list[slice]:
    """The rows cut in parts as equal as can be."""
    cuts = [rows.start + (rows.stop - rows.start) * n // parts for n in range(parts + 1)]
    return [slice(*ends) for ends in pairwise(cuts)]
