"""Which inputs are held out: decided by a hash of each, so that no list of them is needed.

An input belongs to the same part in every draw, with every seed, on every machine. So the parts are
disjoint however many are drawn, and a model that knows all of `train` by heart knows none of
`test`.
"""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar, get_args

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.tasks.task import Part

T = TypeVar("T")

ONE_IN = 8
"""One of so many inputs is held out for the part `test`; a divisor of 256, the values of a byte."""

TRIES = 1000
"""Draws, each larger than needed, after which a part is taken to be empty."""


def part_of(key: bytes) -> Part:
    """The part to which an input belongs."""
    return "test" if blake2b(key, digest_size=1).digest()[0] % ONE_IN == 0 else "train"


def draw_part(
    count: int, part: Part, propose: Callable[[int], Sequence[T] | Any], key: Callable[[T], bytes]
) -> list[T]:
    """The first `count` of what `propose` gives that belong to `part`.

    Args:
        count: how many are wanted.
        part: train or test.
        propose: gives as many as it is asked for, of both parts.
        key: what decides the part of one of them.

    Raises:
        ConfigurationError: there is no such part, or hardly anything belongs to it.
    """
    check_part(count, part)
    share = 1 / ONE_IN if part == "test" else 1 - 1 / ONE_IN
    found: list[T] = []
    for _ in range(TRIES):
        if len(found) >= count:
            return found[:count]
        proposed = propose(int((count - len(found)) / share) + ONE_IN)
        found += [one for one in proposed if part_of(key(one)) == part]
    raise ConfigurationError(
        f"the task has too few different inputs to hold some out: none of its part {part!r} was "
        "drawn; allow longer ones, or more symbols"
    )


def check_part(count: int, part: Part) -> None:
    """Refuses a part that there is not, and a number that is none.

    Raises:
        ConfigurationError: saying what there is.
    """
    if part not in get_args(Part):
        raise ConfigurationError(f"part must be train or test; got {part!r}")
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if not (whole and count >= 1):
        raise ConfigurationError(f"what is drawn must be a whole number of at least 1; got {count}")
