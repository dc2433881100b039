"""Stacks: matrices of equal shape that lie one after another in a flat buffer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Layout = Mapping[str, tuple[int, int, tuple[int, ...]]]
"""Where each parameter lies in the flat buffer: start, stop, shape."""


@dataclass(frozen=True)
class Stack:
    """Matrices that are worked on at once."""

    piece: Any
    """Where they lie in the buffers of a learner."""
    shape: tuple[int, int, int]
    """How many, rows, columns."""


def stacks_of(layout: Layout, names: tuple[str, ...]) -> tuple[Stack, ...]:
    """The matrices with these names in as few stacks as can be, the largest ones first."""
    found: list[Stack] = []
    for name, (start, stop, shape) in layout.items():
        if name not in names:
            continue
        before = found[-1] if found else None
        if before and before.piece.stop == start and before.shape[1:] == shape:
            piece, many = slice(before.piece.start, stop), before.shape[0] + 1
            found[-1] = Stack(piece, (many, *shape))
        else:
            found.append(Stack(slice(start, stop), (1, *shape)))  # type: ignore[arg-type]  # of two axes
    return tuple(sorted(found, key=lambda stack: stack.piece.start - stack.piece.stop))


def others(stacks: tuple[Stack, ...], borders: tuple[int, ...]) -> Iterator[slice]:
    """What lies between the stacks, cut at the borders: the two ends are among these."""
    cuts = set(borders)
    for stack in stacks:
        cuts |= {stack.piece.start, stack.piece.stop}
    inside = [stack.piece for stack in stacks]
    for start, stop in pairwise(sorted(cuts)):
        if not any(piece.start <= start < piece.stop for piece in inside):
            yield slice(start, stop)
