"""From results to a summary, and from that to sentences: no difference that is not shown."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from clearformer.comparison.document import MEASURES, Comparison, Result
from clearformer.comparison.statistics import apart, mean_of

BY_CLOCK = ("seconds", "tokens_per_second", "memory")
"""Measures that differ from time to time where nothing is drawn, too."""

WORDS = {
    "bits_per_character": "bits per character",
    "perplexity": "perplexity",
    "accuracy": "share of right answers",
}


def summary_of(
    results: Sequence[Result], counting: Sequence[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """{model: {measure: {mean, low, high, seeds}}}.

    Args:
        results: of all models.
        counting: names of those that draw nothing, so that one result is the mean.
    """
    summary: dict[str, dict[str, dict[str, Any]]] = {}
    for name in dict.fromkeys(result.model for result in results):
        summary[name] = {}
        for measure in MEASURES:
            found = [getattr(result, measure) for result in results if result.model == name]
            if None not in found:
                exact = name in counting and measure not in BY_CLOCK
                summary[name][measure] = mean_of(found, exact=exact).to_json()
    return summary


def findings_of(comparison: Comparison) -> tuple[str, ...]:
    """One to three sentences on the measure that the models are ranked by."""
    found = [_on_the_best(comparison), _on_the_rest(comparison), _on_the_limit(comparison)]
    return tuple(sentence for sentence in found if sentence)


def _on_the_best(comparison: Comparison) -> str:
    ranked, measure = comparison.ranked, comparison.measure
    best = ranked[0]
    most = "highest" if MEASURES[measure] else "lowest"
    said = f"{best} has the {most} {WORDS[measure]}, {_shown(comparison, best)}"
    if len(ranked) == 1:
        return f"{best} reaches {_shown(comparison, best)} {WORDS[measure]}."
    if any(_interval(comparison, name)["low"] is None for name in ranked):
        return f"{said}; one seed tells of no interval, so this may be luck."
    alike = [name for name in ranked[1:] if not _apart(comparison, best, name)]
    if alike:
        overlaps = "overlaps that of" if len(alike) == 1 else "overlaps those of"
        return (
            f"{said}, but its interval {overlaps} {_listed(alike)}: no difference between them is "
            "shown."
        )
    return f"{said}, and its interval is apart from all others."


def _on_the_rest(comparison: Comparison) -> str:
    """The order of those behind the best, and counting among them."""
    ranked = comparison.ranked
    if len(ranked) < 3 or any(_interval(comparison, name)["low"] is None for name in ranked):
        return ""
    chain = ranked[1]
    for before, name in pairwise(ranked[1:]):
        chain += f", then {name}" if _apart(comparison, before, name) else f" or {name}"
    return f"Behind it: {chain} (“or” where the intervals of neighbours overlap)."


def _on_the_limit(comparison: Comparison) -> str:
    task, best = comparison.task, comparison.ranked[0]
    if comparison.measure == "accuracy" and task["chance"] is not None:
        at_chance = [
            name for name in comparison.ranked
            if comparison.mean(name, "accuracy") < 2 * task["chance"]
        ]  # fmt: skip
        doing = f"; {_listed(at_chance)} stay{'s' * (len(at_chance) == 1)} near it"
        return f"Chance is {task['chance']:.3g}{doing if at_chance else ''}."
    if task["entropy"]:
        above = comparison.mean(best, "bits_per_character") - task["entropy"]
        return (
            f"The entropy of the source is {task['entropy']:.4f} bits, which no model can go below "
            f"but by luck of the sample; {best} is {above:+.4f} from it."
        )
    counting = [model["name"] for model in comparison.models if model["counting"]]
    if counting and len(comparison.names) > 1:
        ranked = comparison.ranked
        worse = ranked[ranked.index(counting[0]) + 1 :]
        if worse:
            return f"Counting alone does better than {_listed(worse)}."
    return ""


def _interval(comparison: Comparison, name: str) -> Mapping[str, Any]:
    return comparison.summary[name][comparison.measure]


def _apart(comparison: Comparison, one: str, other: str) -> bool:
    return apart(_interval(comparison, one), _interval(comparison, other))


def _shown(comparison: Comparison, name: str) -> str:
    found = _interval(comparison, name)
    if found["low"] is None or found["low"] == found["high"]:
        return f"{found['mean']:.3f}"
    return f"{found['mean']:.3f} ± {(found['high'] - found['low']) / 2:.3f}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
