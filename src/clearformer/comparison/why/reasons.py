"""All measurements of why on the models of a comparison, and how they stand in its document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import Fading, fading_of
from clearformer.comparison.why.growth import LENGTHS, Growth, growth_of
from clearformer.comparison.why.looking import Looking, looking_of
from clearformer.comparison.why.recall import Recalling
from clearformer.comparison.why.seen import Seen, seen_of
from clearformer.comparison.why.temperature import WRITTEN, Temperature, temperature_of
from clearformer.comparison.why.works import LONGER, attention_of, step_of
from clearformer.engines.threads import one_blas_thread

SECONDS = 5.0
"""That the growth of one model's time may take to measure."""

Progress = Callable[[str, float], None]
"""Hears what is measured, and the share of all that is done, 0 … 1."""


@dataclass(frozen=True)
class Reasons:
    """What was measured; a model for which a measurement makes no sense is left out of it."""

    fading: tuple[Fading, ...] = ()
    """What reaches back."""
    growth: tuple[Growth, ...] = ()
    """Time against length."""
    attention: Growth | None = None
    """The same of attention alone."""
    looking: tuple[Looking, ...] = ()
    """What attention looked at."""
    temperature: tuple[Temperature, ...] = ()
    """What temperature does."""
    seen: tuple[Seen, ...] = ()
    """Loss against the tokens before, of models of a text."""
    recalling: tuple[Recalling, ...] = ()
    """Recall by distance, where several were compared."""

    def to_json(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """`why` and `temperature` of the document."""
        why = {
            "fading": [each.to_json() for each in self.fading],
            "growth": [each.to_json() for each in self.growth],
            "attention": self.attention.to_json() if self.attention else None,
            "looking": [each.to_json() for each in self.looking],
            "seen": [each.to_json() for each in self.seen],
            "recalling": [each.to_json() for each in self.recalling],
        }
        return why, {"models": [each.to_json() for each in self.temperature]}

    @classmethod
    def from_json(cls, why: Mapping[str, Any], temperature: Mapping[str, Any]) -> "Reasons":
        """The same from such dictionaries, which may be empty."""
        attention = why.get("attention")
        return cls(
            tuple(map(Fading.from_json, why.get("fading", ()))),
            tuple(map(Growth.from_json, why.get("growth", ()))),
            Growth.from_json(attention) if attention else None,
            tuple(map(Looking.from_json, why.get("looking", ()))),
            tuple(map(Temperature.from_json, temperature.get("models", ()))),
            tuple(map(Seen.from_json, why.get("seen", ()))),
            tuple(map(Recalling.from_json, why.get("recalling", ()))),
        )


def reasons_of(
    entrants: Sequence[Trained],
    *,
    seconds: float = SECONDS,
    written: int = WRITTEN,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reasons:
    """Measures why, one model after another; under a minute for five models of the default size.

    Everything runs on one thread, so that times can be compared, and on the NumPy engine.

    Args:
        entrants: the trained models; of those that do not predict the next token nothing is
            measured.
        seconds: for the growth of each model's time.
        written: tokens in each sample of text.
        seed: draws fresh weights and samples.
        progress: hears what is measured, and how much is done.
    """
    asked = [entrant for entrant in entrants if _reads_ids(entrant)]
    done, steps = 0, 5 * len(asked) + 1

    def tell(what: str) -> None:
        nonlocal done
        if progress:
            progress(what, done / steps)
        done += 1

    found = Reasons()
    with one_blas_thread():
        for entrant in asked:
            found = _with(found, entrant, seconds, written, seed, tell)
        tell("attention alone")
        width = next(filter(None, map(_head_width, asked)), None)
        if width:
            alone = growth_of(
                "attention", attention_of(width), lengths=LENGTHS + LONGER, seconds=seconds
            )
            found = replace(found, attention=alone)
    if progress:
        progress("", 1.0)
    return found


def _reads_ids(entrant: Trained) -> bool:
    """Whether a model is one that is asked for the next token of something held out."""
    return bool(getattr(entrant.held_out, "size", 0))


def _with(
    found: Reasons,
    entrant: Trained,
    seconds: float,
    written: int,
    seed: int,
    tell: Callable[[str], None],
) -> Reasons:
    """What was found so far and what is found of one more."""
    learns = hasattr(entrant.model, "from_vectors")
    tell(f"{entrant.name}: what reaches back")
    fading = (fading_of(entrant, seed=seed),) if learns else ()
    tell(f"{entrant.name}: what each token is worth")
    seen = seen_of(entrant) if learns else None
    tell(f"{entrant.name}: time against length")
    work = step_of(entrant.configuration, LENGTHS) if learns else None
    growth = (growth_of(entrant.name, work, seconds=seconds),) if work else ()
    tell(f"{entrant.name}: what attention looks at")
    looking = looking_of(entrant) if learns else None
    tell(f"{entrant.name}: temperature")
    temperature = temperature_of(entrant, written=written, seed=seed) if learns else None
    return replace(
        found,
        fading=found.fading + fading,
        growth=found.growth + growth,
        looking=found.looking + ((looking,) if looking else ()),
        temperature=found.temperature + ((temperature,) if temperature else ()),
        seen=found.seen + ((seen,) if seen else ()),
    )


def _head_width(entrant: Trained) -> int | None:
    """Numbers in a query of a model with attention."""
    heads, embed = (getattr(entrant.configuration, name, None) for name in ("heads", "embed"))
    return embed // heads if heads and embed else None
