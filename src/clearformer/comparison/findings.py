"""From results to a summary, and from that to sentences: no difference that is not shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from clearformer.comparison.document import BY_CLOCK, MEASURES, Comparison, Result
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.standing import Standing
from clearformer.comparison.statistics import mean_of


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


def findings_of(
    comparison: Comparison,
    words: Mapping[str, str] = ENGLISH,
    labels: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """One to three sentences on the measure that the models are ranked by.

    Args:
        comparison: what was found.
        words: of a language, such as `report.english`.
        labels: what each entrant is called; its name unless given.
    """
    finding = _Finding(comparison, words, labels or {})
    found = [finding.on_the_best(), finding.on_the_rest(), finding.on_the_limit()]
    return tuple(sentence for sentence in found if sentence)


def listed(names: Sequence[str], words: Mapping[str, str]) -> str:
    """Such as a, b and c."""
    if len(names) < 2:
        return "".join(names)
    return words["and"].join([words["comma"].join(names[:-1]), names[-1]])


@dataclass(frozen=True)
class _Finding:
    """One comparison in the words of one language."""

    comparison: Comparison
    words: Mapping[str, str]
    labels: Mapping[str, str]

    @cached_property
    def standing(self) -> Standing:
        """Of the best to the others."""
        return Standing(self.comparison)

    def on_the_best(self) -> str:
        ranked, measure = self.comparison.ranked, self.comparison.measure
        named = self.words.get(f"finding_{measure}", self.words[measure])
        given = {"best": self._label(ranked[0]), "measure": named, "value": self._shown(ranked[0])}
        if len(ranked) == 1:
            return self._say("alone", **given)
        leads = "highest" if MEASURES[measure] else "lowest"
        said = self._say("same" if self.standing.equal else leads, **given)
        if self.standing.unknown:
            return self._say("once", said=said)
        if self.standing.equal:
            return self._say("equal", said=said)
        alike = self.standing.alike
        if alike:
            key = "level_one" if len(alike) == 1 else "level_many"
            return self._say(key, said=said, names=self._listed(alike))
        return self._say("apart", said=said)

    def on_the_rest(self) -> str:
        """The order of those behind the best, and counting among them."""
        ranked, means = self.comparison.ranked, self.comparison.mean
        best = means(ranked[0], self.comparison.measure)
        behind = [name for name in ranked if means(name, self.comparison.measure) != best]
        if len(ranked) < 3 or self.standing.unknown or not behind:
            return ""
        chain = self._label(behind[0])
        for before, name in pairwise(behind):
            key = "then" if self.standing.apart(before, name) else "or"
            chain += self._say(key, name=self._label(name))
        return self._say("behind", chain=chain)

    def on_the_limit(self) -> str:
        comparison, task = self.comparison, self.comparison.task
        ranked = comparison.ranked
        if comparison.measure == "accuracy" and task["chance"] is not None:
            chance = f"{task['chance']:.3g}"
            near = [n for n in ranked if comparison.mean(n, "accuracy") < 2 * task["chance"]]
            if not near:
                return self._say("chance", chance=chance)
            key = "near_one" if len(near) == 1 else "near_many"
            return self._say(key, chance=chance, names=self._listed(near))
        if task["entropy"]:
            above = comparison.mean(ranked[0], "bits_per_character") - task["entropy"]
            best = self._label(ranked[0])
            entropy = f"{task['entropy']:.4f}"
            return self._say("entropy", entropy=entropy, best=best, above=f"{above:+.4f}")
        counting = [model["name"] for model in comparison.models if model["counting"]]
        behind = ranked[ranked.index(counting[0]) + 1 :] if counting else []
        worse = [name for name in behind if self.standing.apart(counting[0], name)]
        return self._say("counting", names=self._listed(worse)) if worse else ""

    def _say(self, key: str, **values: str) -> str:
        return self.words[f"finding_{key}"].format(**values)

    def _label(self, name: str) -> str:
        return self.labels.get(name, name)

    def _listed(self, names: Sequence[str]) -> str:
        return listed([self._label(name) for name in names], self.words)

    def _shown(self, name: str) -> str:
        found = self.standing.interval(name)
        if found["low"] is None or found["low"] == found["high"]:
            return f"{found['mean']:.3f}"
        return f"{found['mean']:.3f} ± {(found['high'] - found['low']) / 2:.3f}"
