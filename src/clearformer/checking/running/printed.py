"""What an answer prints: the beginning is kept, the rest is dropped; and nobody answers it."""

import builtins
import contextlib
import io
from collections.abc import Iterator
from typing import Any

KEPT = 4000
"""Characters that are kept."""

_INPUT = "input() was called, but nobody is there to answer"


class Beginning(io.TextIOBase):
    """A file to print to that holds no more than its beginning."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.room = KEPT

    def writable(self) -> bool:
        """It can be printed to."""
        return True

    def write(self, text: str) -> int:
        """Keeps what there is room for."""
        if self.room > 0 and text:
            self.parts.append(text[: self.room])
            self.room -= len(self.parts[-1])
        return len(text)

    def close(self) -> None:
        """Nothing: an answer that closes it does not stop the next from printing."""

    def text(self) -> str:
        """The beginning of what was printed."""
        return "".join(self.parts)


@contextlib.contextmanager
def no_input() -> Iterator[None]:
    """In the block `input` finds that there is nobody, in notebooks too."""
    before = builtins.input
    builtins.input = _nobody
    try:
        yield
    finally:
        builtins.input = before


def _nobody(*_: Any) -> str:
    raise EOFError(_INPUT)
