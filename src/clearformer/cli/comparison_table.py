"""The table of a comparison in a terminal of 80 columns, and its findings."""

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from clearformer.cli.output import perplexity_in_words
from clearformer.comparison.document import Comparison
from clearformer.training.memory import in_words

COLUMNS = 80

NAME = 16
"""Columns of a name; a longer one has a line of its own."""


def table_of(comparison: Comparison) -> Iterator[str]:
    """Models, the best first, with mean ± half of the 95 % interval; then what came out."""
    yield _row("", *_titles(comparison))
    for name in comparison.ranked:
        cells = _cells(comparison, name)
        if len(name) > NAME:
            yield name
        yield _row("" if len(name) > NAME else name, *cells)
    yield ""
    yield from wrap(_what_it_says(comparison), COLUMNS)
    if comparison.findings:
        yield ""
        yield from wrap(" ".join(comparison.findings), COLUMNS)
    for note in comparison.notes:
        yield ""
        yield from wrap(f"Note: {note}.", COLUMNS)


def _titles(comparison: Comparison) -> tuple[str, ...]:
    second = "perplexity" if comparison.measure != "perplexity" else "bits/char"
    first = {
        "bits_per_character": "bits/char", "accuracy": "right", "perplexity": "perplexity"
    }[comparison.measure]  # fmt: skip
    return first, second, "seconds", "tokens/s", "parameters", "memory"


def _cells(comparison: Comparison, name: str) -> tuple[str, ...]:
    found, measure = comparison.summary[name], comparison.measure
    second = "perplexity" if measure != "perplexity" else "bits_per_character"
    parameters = next(model["parameters"] for model in comparison.models if model["name"] == name)
    return (
        _with_interval(found[measure]),
        perplexity_in_words(found[second]["mean"])
        if second == "perplexity"
        else f"{found[second]['mean']:.3f}",
        f"{found['seconds']['mean']:,.1f}",
        f"{found['tokens_per_second']['mean']:,.0f}" if "tokens_per_second" in found else "",
        f"{parameters:,}",
        in_words(round(found["memory"]["mean"])) if "memory" in found else "unknown",
    )


def _with_interval(found: Mapping[str, Any]) -> str:
    if found["low"] is None or found["low"] == found["high"]:
        return f"{found['mean']:.3f}        "
    return f"{found['mean']:.3f} ± {(found['high'] - found['low']) / 2:.3f}"


def _row(name: str, first: str, second: str, *rest: str) -> str:
    seconds, speed, parameters, memory = rest
    line = f"{name:<{NAME}} {first:>13} {second:>10} {seconds:>8} {speed:>8} {parameters:>10}"
    return f"{line} {memory:>9}"


def _what_it_says(comparison: Comparison) -> str:
    budget, seeds = comparison.budget, len(comparison.training["seeds"])
    length = (
        f"{budget['tokens']:,} tokens"
        if budget["tokens"] is not None
        else f"{budget['seconds']:g} seconds of training"
    )
    counting = any(model["counting"] for model in comparison.models)
    said = (
        f"Each has {budget['parameters']:,} parameters within {100 * budget['within']:g} %"
        f"{' (but for counting)' * counting} and {length}."
    )
    if seeds > 1:
        said += f" Mean of {seeds} seeds ± half of its 95 % interval (Student's t)."
    else:
        said += " One seed: there is no interval."
    return f"{said} Memory is that at the height of a training step."
