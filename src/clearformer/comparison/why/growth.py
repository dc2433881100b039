"""How the time of a training step grows with the length of the sequence.

A recurrent model does the same work at each position: time grows as the length does, with exponent
1. Attention compares each position with each before it: its part grows as the square, towards
exponent 2 once that part outweighs the rest (Vaswani et al., 2017, table 1).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter, thread_time
from typing import Any

from clearformer.comparison.why.line import power_through
from clearformer.comparison.why.numbers import kept, kept_all

LENGTHS = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
"""Tokens in a sequence. More would fill a small machine's memory with scores of attention."""

REPEATS = 5
"""Times each length is measured; the median counts."""

FITTED = 5
"""Upper lengths that the exponent is fitted to: below, what every call costs weighs too much."""

Work = Callable[[int], Callable[[], Any]]
"""For a length, the work that is timed; whatever prepares it is done before."""


@dataclass(frozen=True)
class Growth:
    """Time against length, forwards and backwards, of one sequence on one thread."""

    name: str
    """Of the entrant."""
    lengths: tuple[int, ...]
    """Tokens."""
    seconds: tuple[float | None, ...]
    """Of a processor: medians, one for each length."""
    exponent: float
    """Of the power of the length that time grows with, on the upper lengths."""
    low: float | None
    """low … high holds it with 95 % confidence."""
    high: float | None
    fitted: int
    """Upper lengths that it is fitted to."""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {**asdict(self), "lengths": list(self.lengths), "seconds": list(self.seconds)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Growth":
        """The same from such a dictionary."""
        lists = {name: tuple(document[name]) for name in ("lengths", "seconds")}
        return cls(**{**document, **lists})


def growth_of(
    name: str,
    work: Work,
    *,
    lengths: Sequence[int] = LENGTHS,
    seconds: float = 5.0,
    clock: Callable[[], float] = thread_time,
    watch: Callable[[], float] = perf_counter,
) -> Growth:
    """Measures the work at growing lengths, as far as the time allows, and fits the exponent.

    Args:
        name: of the entrant.
        work: makes what is timed.
        lengths: from the shortest; the first three are measured whatever they take.
        seconds: that may be spent; a length is left out that would take longer than what is left.
        clock: what the work is measured by, in seconds: the time that a processor spent on this
            thread, so that whatever else the machine does counts as little as it can.
        watch: what `seconds` is measured by.
    """
    measured = dict(_measured(work, lengths, seconds, clock, watch))
    upper = sorted(measured)[-FITTED:]
    fitted = power_through(upper, [measured[length] for length in upper])
    low, high = (None if end is None else kept(end) for end in (fitted.low, fitted.high))
    return Growth(
        name,
        tuple(measured),
        kept_all(measured.values()),
        float(f"{fitted.exponent:.6g}"),
        low,
        high,
        len(upper),
    )


def _measured(
    work: Work,
    lengths: Sequence[int],
    seconds: float,
    clock: Callable[[], float],
    watch: Callable[[], float],
) -> Iterator[tuple[int, float]]:
    """Each length with the median of its times."""
    begun, before = watch(), (0, 0.0)
    for number, length in enumerate(lengths):
        left = seconds - (watch() - begun)
        expected = before[1] * (length / max(before[0], 1)) ** 2
        if number >= 3 and expected * 2 > left:  # once to warm up, once to measure
            return
        run = work(length)
        run()
        times: list[float] = []
        share = left / (len(lengths) - number)
        while not times or (len(times) < REPEATS and sum(times) + times[-1] < share):
            start = clock()
            run()
            times.append(clock() - start)
        before = (length, median(times))
        yield before
