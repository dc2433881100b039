"""A thread that notices when another rank has ended, and ends this process if it must.

What a rank does at that moment may never end by itself: it waits for one that is gone. So when
somebody has told of a fault, or a rank has not been heard for long, the process gets a little time
to end in good order, and is then ended from here.
"""

import math
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from clearformer.engines.torch.heartbeats import Heartbeats

BEAT = 0.5
"""Seconds between two beats."""

AFTER_A_FAULT = 3.0
"""Seconds of silence after which a rank has ended, where a connection has broken."""

AFTER_A_SIGNAL = 8.0
"""The same where this process was asked to stop: perhaps for that reason, perhaps by a person."""

OUT_OF_THE_BLUE = 300.0
"""The same where nothing else is wrong, as when a machine has lost its power."""

TIME_TO_END = 2.0
"""Seconds for a process to find out by itself, after another has told of a fault."""

TIME_TO_STOP = 300.0
"""For one that has to finish a step and save, because `torchrun` is gone."""

TIME_TO_LEAVE = 20.0
"""Seconds for one that has found out to clean up and leave, or for rank 0 to finish a save."""

STATUS = 2
"""Exit status, as of every fault."""


class Watch:
    """Beats, listens, and ends the process, until stopped.

    Attributes:
        writing: held while something is written that should not be cut off.
    """

    def __init__(self, heartbeats: Heartbeats, words: Callable[[list[int]], str]) -> None:
        """`words` says which ranks have ended."""
        self.writing = threading.Lock()
        self._heartbeats, self._words = heartbeats, words
        self._patience = _beats(OUT_OF_THE_BLUE)
        self._heard = threading.Condition()
        self._beats = 0
        self._is_alone = self._is_leaving = self._is_stopped = False
        self._parent = os.getppid()
        self._bell, self._waker = socket.socketpair()
        self._bell.setblocking(False)
        self._waker.setblocking(False)
        self._before: int | None = None
        if threading.current_thread() is threading.main_thread():
            # also heard while the main thread waits for another rank, and runs no handlers
            self._before = signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def verdict(self) -> list[int]:
        """The ranks that have ended; waits until that is sure, or another rank has told of it."""
        with self._heard:
            self._patience = min(self._patience, _beats(AFTER_A_FAULT))
            enough = self._beats + self._patience + 1
            self._heard.wait_for(
                lambda: (
                    self._is_alone
                    or self._heartbeats.told
                    or self._missing()
                    or self._beats > enough
                )
            )
            return self._missing()

    def is_told(self, seconds: float) -> bool:
        """Whether another rank tells of a fault within so many seconds."""
        with self._heard:
            return self._heard.wait_for(lambda: self._heartbeats.told, seconds)

    def leaving(self) -> None:
        """The process knows that it has to end."""
        self._is_leaving = True

    def stop(self) -> None:
        """Ends the thread."""
        if self._before is not None:
            signal.set_wakeup_fd(self._before)
        self._is_stopped = True
        with suppress(OSError):
            self._waker.send(b"\0")
        self._thread.join(TIME_TO_END)
        if not self._thread.is_alive():  # else it waits for the store, and ends with the process
            self._bell.close()
            self._waker.close()

    def _run(self) -> None:
        doomed = 0
        while not self._is_stopped:
            self._wait()
            self._beat()
            doomed = doomed + 1 if self._is_doomed() else 0
            if doomed > _beats(self._time_left()) and not self._is_stopped:
                self._end()
                return

    def _wait(self) -> None:
        """Until the next beat, or the end; and listens for signals."""
        end = time.monotonic() + BEAT
        while not self._is_stopped and (left := end - time.monotonic()) > 0:
            if select.select([self._bell], [], [], left)[0]:
                self._bell.recv(4096)
                self._patience = min(self._patience, _beats(AFTER_A_SIGNAL))

    def _beat(self) -> None:
        was_alone = self._is_alone
        try:
            self._heartbeats.beat()
        except RuntimeError:
            self._is_alone = True
        self._is_alone |= os.getppid() != self._parent
        with self._heard:
            self._beats += 1
            self._heard.notify_all()
        if self._is_alone and not was_alone and not self._is_stopped:
            os.kill(os.getpid(), signal.SIGTERM)  # torchrun is gone; a session saves and stops

    def _is_doomed(self) -> bool:
        return bool(self._is_alone or self._heartbeats.told or self._missing())

    def _time_left(self) -> float:
        """Seconds that the process may take to end by itself."""
        if self._is_leaving:
            return TIME_TO_LEAVE
        return TIME_TO_STOP if self._is_alone else TIME_TO_END

    def _missing(self) -> list[int]:
        return self._heartbeats.missing(self._patience)

    def _end(self) -> None:
        self.writing.acquire(timeout=TIME_TO_LEAVE)
        missing = self._missing()
        if missing and not self._heartbeats.told and self._heartbeats.claim():
            with suppress(OSError, AttributeError, ValueError):
                os.write(sys.stderr.fileno(), f"clearformer: {self._words(missing)}\n".encode())
        os._exit(STATUS)


def _beats(seconds: float) -> int:
    return math.ceil(seconds / BEAT)
