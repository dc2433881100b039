"""Work that ranks share: each in step with the others, also where there is too little of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.distributed as dist

Found: TypeAlias = float | tuple[float, ...]
"""A number, or equally many for each item."""


def over_ranks(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """`function(item)` for each item, in order, on every rank; each rank computes its share.

    What is found of an item is a number, or equally many for each item as a tuple.

    Rank r takes item r of each round. In a last round that has too few, the others compute the
    first item again, and drop what comes out: all ranks call the model equally often, which they
    must where each holds a part of it.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    results: list[Found] = []
    for items_of_round in _rounds(iter(items), ranks):
        mine = function(items_of_round[rank if rank < len(items_of_round) else 0])
        results += _gathered(mine, ranks)[: len(items_of_round)]
    return results


def _rounds(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while taken := list(islice(items, size)):
        yield taken


def _gathered(found: Found, ranks: int) -> list[Found]:
    """What each rank has found, in order."""
    mine = torch.tensor(found, dtype=torch.float64)
    told = [torch.zeros_like(mine) for _ in range(ranks)]
    dist.all_gather(told, mine)
    return [tuple(other.tolist()) if other.ndim else float(other) for other in told]


def something_to_do(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The arrays, or one row of zeros for a rank without a row, which counts for nothing."""
    if len(arrays[0]):
        return arrays
    return [np.zeros((1, *array.shape[1:]), array.dtype) for array in arrays]
