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
        natural = _natural(make, dials, budget)
    candidates = [
        found
        for start in natural
        for found in ([_closed(start, budget)] if FINE in open_ else [start])
    ]
    return _best(name, candidates, natural, budget)


def _natural(make: Make, dials: Mapping[str, Any], budget: Budget) -> list[Configuration]:
    """The kind in its usual shape, in every width that is not far larger than the budget."""
    found: list[Configuration] = []
    fault: ConfigurationError | None = None
    for width in range(1, LARGEST_WIDTH):
        try:
            made = make({COARSE: width}).completed
        except ConfigurationError as refused:  # not a multiple of heads
            fault = fault or refused
            if width > 4096 and not found:
                raise fault from None
            continue
        found.append(made)
        if made.parameter_count > 2 * budget.parameters:  # no usual shape comes down from there
            break
    return found


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
    nearest = " and ".join(f"{count:,}" for count in below + above)
    if not below:
        why = f"the smallest it can be has {counts[0]:,}"
    else:
        why = f"the nearest it can be with these dials have {nearest}"
    raise ConfigurationError(
        f"{name} cannot meet the budget of {budget.parameters:,} parameters within 2 %: {why} "
        f"(its vocabulary of {candidates[0].vocabulary:,} tokens alone weighs on it); choose "
        "another budget, fewer layers, or a smaller vocabulary"
    )
