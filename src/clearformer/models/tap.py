"""The tap: one identity function through which every intermediate can be read or replaced.

A model calls `tap(name, x)` at each named step and goes on with what comes back. `silent` gives x
back untouched; models recognise it and take the fast path that forms no intermediates.
"""

from collections.abc import Callable, Mapping
from typing import Any

from clearformer.tensor import Tensor

Tap = Callable[[str, Tensor], Any]


def silent(name: str, x: Tensor) -> Tensor:
    """Nobody listens: x goes on unchanged."""
    return x


def under(tap: Tap, prefix: str) -> Tap:
    """The same tap, heard from inside the part called `prefix`."""
    if tap is silent:
        return silent
    return lambda name, x: tap(f"{prefix}.{name}", x)


class Recorder:
    """A tap that keeps every intermediate, in order, and lets edits replace them.

    Args:
        edits: for a name, a function from the intermediate to what should go on instead.
    """

    def __init__(self, edits: Mapping[str, Callable[[Any], Any]] | None = None):
        self.edits = dict(edits or {})
        self.seen: dict[str, Any] = {}

    def __call__(self, name: str, x: Tensor) -> Any:
        """Keeps x, or what an edit makes of it."""
        result = self.edits[name](x) if name in self.edits else x
        self.seen[name] = result
        return result
