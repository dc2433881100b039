"""The compiled way through attention; called like the plain ones in `numpy`."""

from itertools import pairwise
from math import prod

import numpy as np

from clearformer.engines.numpy.attention_whole import heads_inside
from clearformer.engines.numpy.compiled import attention_kernel
from clearformer.engines.numpy.compiled.attention_kernel import BAND, PER_NAT
from clearformer.engines.tape import Gradient
from clearformer.engines.threads import share_out, threads_allowed

PIECES = 2
"""Jobs of a thread, at least: none waits long for the last one."""


def takes(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | None, causal: bool
) -> bool:
    """Whether the kernels can: float32, the same heads, and no mask but the causal rule."""
    return (
        q.dtype == k.dtype == v.dtype == np.float32
        and mask is None
        and q.ndim >= 2
        and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        and q.shape[-1] == k.shape[-1]
        and k.shape[-2] == v.shape[-2]
        and 0 not in q.shape + k.shape + v.shape
        and (not causal or q.shape[-2] <= k.shape[-2])
    )


def attend(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    _mask: np.ndarray | None,
    causal: bool,
    factor: float,
) -> tuple[np.ndarray, Gradient]:
    """As `attention_whole.attend_whole`, of what `takes` has said yes to."""
    lead, queries = q.shape[:-2], q.shape[-2]
    heads = prod(lead)
    own = [_heads_inside(x) for x in (q, k, v)]
    scale = np.float32(factor * PER_NAT)
    mixed = heads_inside(lead, queries, v.shape[-1], q.dtype)
    found = _heads_inside(mixed), *np.empty((2, heads, queries), np.float32)  # 1 / r, the shift

    def forwards(job: tuple[tuple[int, int], tuple[int, int]]) -> None:
        attention_kernel.forwards(*own, scale, causal, *job, *found)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, ...]:
        results = [heads_inside(lead, x.shape[-2], x.shape[-1], x.dtype) for x in (q, k, v)]
        rest = *found, _heads_inside(grad), *map(_heads_inside, results)

        def backwards(some: tuple[int, int]) -> None:
            attention_kernel.backwards(*own, scale, causal, some, *rest)

        share_out(lambda: backwards, _parts(heads, threads_allowed() * PIECES))
        return tuple(results)

    share_out(lambda: forwards, _jobs(heads, -(-queries // BAND)))
    return mixed, gradient


def _jobs(heads: int, bands: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Heads, and bands: the first and how many further on the next is, so that all last alike."""
    threads = threads_allowed()
    if threads == 1:
        return [((0, heads), (0, 1))]
    apart = min(bands, -(-threads * PIECES // heads))
    return [
        (some, (start, apart)) for some in _parts(heads, threads * PIECES) for start in range(apart)
    ]


def _parts(heads: int, most: int) -> list[tuple[int, int]]:
    """The heads in at most so many parts, as equal as can be; one part for one thread."""
    count = min(heads, most) if threads_allowed() > 1 else 1
    cuts = [heads * part // count for part in range(count + 1)]
    return list(pairwise(cuts))


def _heads_inside(x: np.ndarray) -> np.ndarray:
    """(sequence, position, head, width) in float32, one number after another in memory.

    No copy, if x has its heads inside its positions, or else each head for itself, which becomes a
    sequence of its own.
    """
    inside = x.reshape(-1, *x.shape[-3:]).swapaxes(1, 2) if x.ndim > 2 else x[None, :, None]
    if not inside.flags.c_contiguous:
        inside = x.reshape(-1, x.shape[-2], 1, x.shape[-1])
    return np.require(inside, np.float32, ("C", "W"))
