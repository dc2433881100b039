"""How PyTorch does the arithmetic of a run, where nobody has said it: by what pays here."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf

import torch

from clearformer.engines.execution import (
    DROPS,
    DROPS_ADVICE,
    TRYING,
    Execution,
    Wish,
    Work,
    cannot_compile,
)
from clearformer.engines.torch.compiling import obstacle
from clearformer.engines.torch.devices import device_of
from clearformer.errors import ConfigurationError

NARROW_PAYS = 1.5
"""How many times as quick products in bfloat16 must be.

Casting takes up to 0.15 of what the products take in float32 (measured on two models: 8 of 55 ms,
0.28 of 3.4 s), so that from 1.2 on there is a gain; one of some per cent is not worth the digits.
"""

EFFICIENCY = 0.6
"""Share of the measured speed that a whole step in float32 reaches (measured: 0.53 for the size
small, 0.79 for medium)."""

NOT_PRODUCTS = 0.3
"""Share of such a step that bfloat16 does not make quicker, casting included (the same measurement:
the rest is 2.1 times as quick, and a step took 0.73 and 0.59 of its time)."""

COMPILING_SECONDS = 40.0
"""What compiling the size small takes one processor, the first time."""

COMPILING_AGAIN_SECONDS = 30.0
"""The same for each further number of rows."""

COMPILING_GAIN = 0.1
"""The share of a step that it saves (measured on sizes and recipes: 0.06 to 0.2 in float32, 0.08 to
0.29 in bfloat16)."""

LARGEST_SHARE = 0.5
"""Of a device's memory that weights, gradients and averages may take before they are sharded."""

SHARDS_NOTHING = (
    "--parallel shard does nothing for one process; torchrun starts several, of which each has a "
    "part of the model"
)
"""What is told where it was wished."""

TURNS = 4
"""Products that are measured, of which the first only warms up."""


def settle(
    wish: Wish, work: Work, waiting: Callable[[str], None]
) -> tuple[Execution, tuple[str, ...]]:
    """What is wished, with everything left open decided; and a sentence or two that say it.

    Raises:
        ConfigurationError: there is no such device, or it cannot do what is wished.
    """
    place = device_of(wish.device)
    device = wish.device or place.partition(":")[0]
    narrow, speed = _measure(place)
    precision = wish.precision or ("bfloat16" if narrow >= NARROW_PAYS else "float32")
    parallel = wish.parallel or _parallel(place, wish.ranks, work.memory)
    parallel = parallel if wish.ranks > 1 else "replicate"
    workers = wish.workers if device == "cpu" and wish.ranks == 1 else 1
    if precision == "bfloat16":
        if not narrow:
            raise ConfigurationError(f"{device} has no products in bfloat16; take float32")
        speed /= NOT_PRODUCTS + (1 - NOT_PRODUCTS) / narrow
    seconds = work.seconds(EFFICIENCY * speed * workers * wish.ranks)
    compiled, why = _compiled(wish, work, place, parallel, seconds, workers, waiting)
    found = Execution("torch", device, precision, compiled, workers, wish.ranks, parallel)
    alone = wish.parallel == "shard" and wish.ranks == 1
    return found, (_in_words(found, narrow, why), *((SHARDS_NOTHING,) if alone else ()))


def _compiled(
    wish: Wish,
    work: Work,
    place: str,
    parallel: str,
    seconds: float,
    workers: int,
    waiting: Callable[[str], None],
) -> tuple[bool, str]:
    """Whether to compile, and why, in words that follow "compiled" or "not compiled".

    Raises:
        ConfigurationError: it is wished and cannot be.
    """
    if wish.compiled is False:
        return False, ""
    costs = COMPILING_SECONDS + COMPILING_AGAIN_SECONDS * (work.shapes(workers * wish.ranks) - 1)
    if not wish.compiled and seconds * COMPILING_GAIN <= costs:
        saved = max(round(seconds * COMPILING_GAIN), 1)
        return False, f" (that takes about {costs:.0f} s and would save about {saved} s)"
    if work.draws:
        reason, advice = DROPS, DROPS_ADVICE
    elif work.obstacle:
        reason, advice = work.obstacle, "leave out --compile"
    elif parallel == "shard":
        reason, advice = "it is shared out over processes", "leave out --compile or --parallel"
    else:
        waiting(TRYING)
        reason, advice = obstacle(place) or "", "leave out --compile"
    if not reason:
        return True, f", which takes about {costs:.0f} s at the start"
    if wish.compiled:
        raise cannot_compile(reason, advice)
    return False, f": {reason}"


def _parallel(device: str, ranks: int, memory: int) -> str:
    """Shards what would take more than half of the device, which needs room for activations."""
    if ranks == 1 or not device.startswith("cuda"):
        return "replicate"
    there = torch.cuda.get_device_properties(device).total_memory
    return "shard" if memory > LARGEST_SHARE * there else "replicate"


def _measure(device: str) -> tuple[float, float]:
    """How many times as quick bfloat16 is in a product, and operations per second in float32.

    On a processor that of one thread, by the time it was running, so that other work hardly counts:
    measured on two processors with eight others waiting, bfloat16 was 2.07 to 2.16 times as quick
    in each of 30 tries; by the clock 0.9 to 20 times.
    """
    on_processor = device == "cpu"
    side = 768 if on_processor else 2048  # milliseconds on a processor, less on a GPU
    exact = time.get_clock_info("thread_time").resolution < 1e-4
    clock = time.thread_time if on_processor and exact else time.perf_counter
    wide = torch.ones(side, side, device=device)
    narrow = _narrowed(wide)
    with _one_thread():
        # in turns, so that whatever else the machine does meets both; the first turn warms up
        turns = [[_time_of(x, clock) for x in (wide, narrow)] for _ in range(TURNS)][1:]
    wide_time, narrow_time = map(min, zip(*turns, strict=True))
    return wide_time / narrow_time, 2 * side**3 / wide_time


def _narrowed(wide: torch.Tensor) -> torch.Tensor | None:
    """The matrix in bfloat16; None where the device cannot multiply such."""
    try:
        narrow = wide.bfloat16()
        narrow @ narrow
    except (RuntimeError, TypeError):
        return None
    return narrow


def _time_of(matrix: torch.Tensor | None, clock: Callable[[], float]) -> float:
    """Seconds of a product."""
    if matrix is None:
        return inf
    begun = clock()
    float((matrix @ matrix)[0, 0])  # waits for the device
    return clock() - begun


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _in_words(found: Execution, narrow: float, why: str) -> str:
    """One sentence for a person."""
    products = f"products in {found.precision}"
    if found.precision == "bfloat16":
        products += f" ({narrow:.1f} times as quick as float32 here)"
    compiled = ("compiled" if found.compiled else "not compiled") + why
    together = ""
    if found.ranks > 1:
        shared = (
            "sharing the model out" if found.parallel == "shard" else "each with the whole model"
        )
        together = f", {found.ranks} processes, {shared}"
    return f"PyTorch {torch.__version__} on {found.device}: {products}, {compiled}{together}"
