"""As large as the budget says: the width of a model is searched for, in exact integers.

Nothing is built. A model grows by its `embed`, in steps that are too coarse to meet a budget
within 2 %; the width within its layers, `hidden`, then closes the gap. Of all pairs that meet the
budget the one is taken whose shape is most like what the kind would have by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log
from typing import Any

from clearformer.comparison.budget import Budget
from clearformer.errors import ConfigurationError
from clearformer.models.kind import Configuration, Kind

COARSE, FINE = "embed", "hidden"
"""The dials that a width is made of."""

LARGEST_WIDTH = 2**17
"""Widths up to it are tried."""

WIDEST_STEP = 4096
"""More heads than can share out so wide a vector are none that anybody means."""

AROUND = 32
"""Widths that are tried on each side of the one whose usual shape meets the budget best."""

PER_TOKEN = 100
"""Parameters for each token of the vocabulary with which every kind finds a shape."""

FURTHEST = 4.0
"""A hidden width more than so many times what is usual is no longer the same kind of model."""

Make = Callable[[Mapping[str, int]], Configuration]


def sized(
    name: str, kind: Kind, vocabulary: int, dials: Mapping[str, Any], budget: Budget
) -> Configuration:
    """The configuration of a kind that has the budget's parameters, within 2 %.

    Args:
        name: of the entrant, for a message.
        kind: of model.
        vocabulary: tokens it knows.
        dials: what was set for it; a width among them stays as it is.
        budget: how many parameters it may have.

    Raises:
        ConfigurationError: no width meets the budget, with the nearest ones there are; or dials
            that cannot be.
    """

    def make(widths: Mapping[str, int]) -> Configuration:
        return kind.configuration(vocabulary, **{**dials, **widths})

    open_ = [dial for dial in (COARSE, FINE) if dial in kind.dials and dial not in dials]
    if COARSE not in open_:
        make({})  # dials that cannot be are told as they are
        natural = [make({}).completed]
    else:
        natural = _natural(make, budget)
    candidates = [
        found
        for start in natural
        for found in ([_closed(start, budget)] if FINE in open_ else [start])
    ]
    return _best(name, candidates, natural, budget)


def _natural(make: Make, budget: Budget) -> list[Configuration]:
    """The kind in its usual shape, in widths about the one that has as many parameters as wanted.

    The usual shape is the one that `_best` looks for, so wider and narrower ones cannot win.
    """
    step = _step(make)
    low, high = 1, LARGEST_WIDTH // step
    while low < high:  # the first width that has at least as many; parameters grow with it
        middle = (low + high) // 2
        found = _made(make, middle * step)
        enough = found is None or found.parameter_count >= budget.parameters
        low, high = (low, middle) if enough else (middle + 1, high)
    places = range(max(low - AROUND, 1), low + AROUND + 1)
    return [found for place in places if (found := _made(make, place * step)) is not None]


def _step(make: Make) -> int:
    """The smallest width there can be, of which others are multiples; heads share it out."""
    fault: ConfigurationError | None = None
    for width in range(1, WIDEST_STEP + 1):
        try:
            make({COARSE: width})
            return width
        except ConfigurationError as refused:  # not a multiple of heads
            fault = fault or refused
    raise fault or ConfigurationError(f"no {COARSE} up to {WIDEST_STEP:,} can be")


def _made(make: Make, width: int) -> Configuration | None:
    try:
        return make({COARSE: width}).completed
    except ConfigurationError:
        return None


def _closed(start: Configuration, budget: Budget) -> Configuration:
    """The same with the hidden width whose parameters come nearest to the budget."""
    low, high = 1, max(int(FURTHEST * getattr(start, FINE)), 2)
    while low < high:
        middle = (low + high) // 2
        enough = _hidden(start, middle).parameter_count >= budget.parameters
        low, high = (low, middle) if enough else (middle + 1, high)
    tries = [_hidden(start, width) for width in {max(low - 1, 1), low}]
    return min(tries, key=lambda made: abs(made.parameter_count - budget.parameters))


def _hidden(start: Configuration, width: int) -> Configuration:
    return replace(start, **{FINE: width})


def _best(
    name: str, candidates: list[Configuration], natural: list[Configuration], budget: Budget
) -> Configuration:
    usual = {getattr(made, COARSE, 0): getattr(made, FINE, 1) for made in natural}

    def unusual(made: Configuration) -> tuple[float, int]:
        width, expected = getattr(made, FINE, 1), usual[getattr(made, COARSE, 0)]
        return abs(log(width / expected)), abs(made.parameter_count - budget.parameters)

    meeting = [made for made in candidates if budget.allows(made.parameter_count)]
    if meeting:
        return min(meeting, key=unusual)
    counts = sorted({made.parameter_count for made in (*candidates, *natural)})
    below = [count for count in counts if count < budget.parameters][-1:]
    above = [count for count in counts if count > budget.parameters][:1]
    nearest = " or ".join(f"{count:,}" for count in below + above)
    raise ConfigurationError(
        f"{name} cannot meet the budget of {budget.parameters:,} parameters within 2 %: with a "
        f"vocabulary of {candidates[0].vocabulary:,} it has {'at least ' * (not below)}{nearest}; "
        f"take {_way_out(candidates[0].vocabulary, budget)}"
    )


def _way_out(vocabulary: int, budget: Budget) -> str:
    """What a person can change."""
    fewer = budget.parameters // PER_TOKEN
    if vocabulary > fewer >= PER_TOKEN:
        return f"--vocab {fewer}, or a larger --budget"
    return "another --budget, or other dials"
