"""What preparing a text tells while it goes on, and how it is stopped."""

from collections.abc import Callable


class Watch:
    """Hears of it. This one keeps silent; the command line shows the progress."""

    def note(self, text: str) -> None:
        """Something a person should know, in one sentence."""

    def begin(self, doing: str, size: int) -> None:
        """The next stretch of work begins, on so many bytes of text."""

    def show(self, share: float) -> None:
        """This share of it is done, 0 … 1; told several times a second."""


class StoppedError(Exception):
    """Preparing was asked to stop; what is finished is kept."""


class Progress:
    """Passes on how much of each stretch of work is done, and stops it where that is asked for."""

    def __init__(self, watch: Watch, stop: Callable[[], None]) -> None:
        """`stop` raises `StoppedError` once the work is to be stopped."""
        self.note = watch.note
        self._watch, self._stop = watch, stop
        self._size = self._done = 0
        self._share: Callable[[], float] = self._counted

    def begin(self, doing: str, size: int, share: Callable[[], float] | None = None) -> None:
        """The next stretch begins, on so many bytes; `share` tells how much of it is done."""
        self._size, self._done, self._share = size, 0, share or self._counted
        self._watch.begin(doing, size)
        self.look()

    def done(self, amount: int) -> None:
        """So many more bytes are done."""
        self._done += amount
        self.look()

    def look(self) -> None:
        """Shows how much is done, and stops where that was asked for."""
        self._stop()
        self._watch.show(min(self._share(), 1.0))

    def _counted(self) -> float:
        return self._done / max(self._size, 1)
