"""Catches warnings together with the learner's own line that led to them."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clearformer.checking.record import Warned
from clearformer.checking.running.frames import Home, printable

MOST = 8
LONGEST = 200


@contextmanager
def warnings_of(home: Home) -> Iterator[list[Warned]]:
    """In the block every warning is caught, not shown; each line and text is listed once."""
    caught: list[Warned] = []

    def catch(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        frame = home.nearest(sys._getframe(1))
        text = printable(f"{category.__name__}: {message}"[:LONGEST])
        warned = Warned(text, frame.f_lineno if frame else None)
        if warned not in caught and len(caught) < MOST:
            caught.append(warned)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = catch
        yield caught
