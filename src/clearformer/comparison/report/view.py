"""A comparison as the report looks at it: names, colours and words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clearformer.comparison.document import BY_CLOCK, MEASURES, Comparison
from clearformer.comparison.report.drawing import DASHES
from clearformer.comparison.report.figures import WRITTEN, half_width
from clearformer.comparison.why.reasons import Reasons

KINDS_IN_WORDS: Mapping[str, str] = {
    "decoder": "Transformer",
    "encoder-decoder": "Transformer encoder–decoder",
}
"""What textbooks call a kind, where its title is another."""

Telling = Callable[..., tuple[str, ...]]
"""`findings_of` or `notes_of`."""

COUNTING = 0
"""The colour of the one that counts."""


@dataclass(frozen=True)
class View:
    """What every part of the page is made from."""

    comparison: Comparison
    words: Mapping[str, str]

    def say(self, key: str, **values: Any) -> str:
        """The report's words for something."""
        return self.words[key].format(**values)

    @cached_property
    def reasons(self) -> Reasons:
        """The measured reasons."""
        return Reasons.from_json(self.comparison.why, self.comparison.temperature)

    @cached_property
    def labels(self) -> dict[str, str]:
        """What each entrant is called: by its kind or title, where no other has the same."""
        titles = [
            KINDS_IN_WORDS.get(model["kind"], str(model["title"]))
            for model in self.comparison.models
        ]
        return {
            model["name"]: title if titles.count(title) == 1 else str(model["name"])
            for model, title in zip(self.comparison.models, titles, strict=True)
        }

    @cached_property
    def colours(self) -> dict[str, int]:
        """The number of the colour, dash and mark of each entrant."""
        found, number = {}, 0
        for model in self.comparison.models:
            if model["counting"]:
                found[model["name"]] = COUNTING
            else:
                found[model["name"]] = 1 + number % (len(DASHES) - 1)
                number += 1
        return found

    def told(self, stored: Sequence[str], told_by: Telling) -> list[tuple[str, str]]:
        """Sentences of the document in the report's language, each with the language it is in.

        Those that `told_by` does not tell stay as they are.
        """
        names, ours = told_by(self.comparison), self.words["language"]
        known = dict(zip(names, told_by(self.comparison, self.words, self.labels), strict=True))
        return [
            (known[sentence], ours) if sentence in known else (sentence, "en")
            for sentence in stored
        ]

    @property
    def measure_name(self) -> str:
        """What the models are ranked by, in words."""
        return self.measure_words(self.comparison.measure)

    def measure_words(self, measure: str) -> str:
        """A measure in words."""
        if measure == "bits_per_character" and not self.comparison.text:
            return self.say("bits_per_symbol")
        return self.say(measure)

    @property
    def better(self) -> str:
        """Whether more or less of it is better."""
        return self.say("higher_better" if MEASURES[self.comparison.measure] else "lower_better")

    def mean(self, name: str, measure: str) -> str:
        """Such as 2.214 ± 0.012; of what a clock decides without an interval."""
        found = self.comparison.summary[name].get(measure)
        if found is None:
            return self.say("unknown")
        mean, low, high = found["mean"], found["low"], found["high"]
        write = WRITTEN[measure]
        if measure in BY_CLOCK or low is None or high is None or low == high:
            return write(mean)
        if measure == "accuracy":
            return f"{100 * mean:.1f} ± {half_width(measure, low, high)} %"
        return f"{write(mean)} ± {half_width(measure, low, high)}"

    def range(self, name: str, measure: str) -> str | None:
        """Of what a clock decides, from the lowest to the highest seed, such as 13.9 – 14.6."""
        values = [getattr(result, measure) for result in self.comparison.of(name)]
        if measure not in BY_CLOCK or None in values:
            return None
        ends = dict.fromkeys(WRITTEN[measure](end) for end in (min(values), max(values)))
        return " – ".join(ends) if len(ends) > 1 else None
