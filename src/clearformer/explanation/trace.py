"""The trace of one sentence: every intermediate, named, with named axes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from clearformer.errors import ConfigurationError

if TYPE_CHECKING:
    from clearformer.explanation.edits import Change
    from clearformer.explanation.subject import Subject


class StageError(ConfigurationError, KeyError):
    """A stage that a trace does not have; the message names the nearest ones."""

    def __init__(self, name: str, known: Iterable[str]):
        near = ", ".join(_nearest(name, list(known)))
        super().__init__(f"there is no stage {name[:80]!r} here; the nearest are: {near}")

    def __str__(self) -> str:  # KeyError would put quotation marks around the message
        return str(self.args[0])


class NamedArray(np.ndarray):
    """An array that knows the names of its axes.

    What is computed from it is an ordinary array again in this respect: its `axes` are empty.
    """

    axes: tuple[str, ...]

    def __new__(cls, values: Any, axes: tuple[str, ...]) -> "NamedArray":
        """A read-only view of `values`."""
        array = np.asarray(values).view(cls)
        array.axes = axes
        array.flags.writeable = False
        return array

    def __array_finalize__(self, source: Any) -> None:
        self.axes = ()


@dataclass(frozen=True)
class Stage:
    """One named intermediate."""

    name: str
    axes: tuple[str, ...]
    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of `axes`."""
        return tuple(self.values.shape)

    def to_json(self) -> dict[str, Any]:
        """Name, axes, shape and the values as nested lists; null for what is not finite."""
        return {
            "name": self.name,
            "axes": list(self.axes),
            "shape": list(self.shape),
            "values": _strict(self.values),
        }


class Trace:
    """What a model computed for one sentence, from the tokens to the next-token probabilities.

    >>> import clearformer as cf
    >>> trace = cf.explain("I like small models")
    >>> trace.tokens
    ('I', 'like', 'small', 'models')
    >>> scores = trace["blocks.0.attention.scores"]
    >>> scores.axes, scores.shape
    (('batch', 'query', 'key'), (1, 4, 4))

    `print(trace)` shows every step with its reason. Stages are read-only; `what_if` computes the
    same sentence again with some of them replaced.
    """

    def __init__(
        self,
        subject: "Subject",
        stages: tuple[Stage, ...],
        next: tuple[tuple[str, float], ...],
        edits: tuple[tuple[str, "Change"], ...] = (),
        before: np.ndarray | None = None,
    ):
        self.subject = subject
        """The model, its tokenizer and the ids."""
        self.stages = stages
        """In the order in which they happened."""
        self.next = next
        """The most likely next tokens and their probabilities, the likeliest first; of an encoder
        those for the first mask, or for the place of the last token if there is no mask."""
        self.edits = edits
        """What was replaced."""
        self.before = before
        """(vocab,) Next-token probabilities without the edits; None when there are none."""
        self._by_name = {stage.name: stage for stage in stages}

    @property
    def tokens(self) -> tuple[str, ...]:
        """The pieces of the sentence."""
        return tuple(self["tokens"].tolist())

    @property
    def ids(self) -> tuple[int, ...]:
        """Their numbers in the vocabulary."""
        return tuple(self["ids"][0].tolist())

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: unknown characters, a sentence that was cut."""
        return self.subject.notes

    def __getitem__(self, name: str) -> NamedArray:
        """The values of a stage, with `.axes`. Raises StageError, which names the nearest."""
        stage = self.stage(name)
        return NamedArray(stage.values, stage.axes)

    def stage(self, name: str) -> Stage:
        """The stage of that name. Raises StageError, which names the nearest."""
        if name not in self._by_name:
            raise StageError(name, self._by_name)
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def what_if(self, edit: "Mapping[str, Change] | Iterable[tuple[str, Change]] | str") -> "Trace":
        """The same sentence with stages replaced; everything after them is computed anew.

        Args:
            edit: for names of stages, an array that broadcasts to the stage, a number that fills
                it, or a function from the array to another. Edits of this trace stay. A string is
                read as on the command line: `"blocks.0.attention.weights[3,0]=0"`.

        Raises:
            StageError: for a stage that does not happen here.
            ShapeError: for values that do not fit the stage.
        """
        from clearformer.explanation.edits import as_edits

        return self.subject.trace((*self.edits, *as_edits(edit)))

    def text(
        self, width: int | None = None, layer: int | None = None, head: int | None = None
    ) -> str:
        """Every step in words and small tables, as `clearformer explain` prints it.

        Args:
            width: columns of the page; None for those of the terminal.
            layer: the layer to show; None for the first one that the trace holds.
            head: the head to show; None for the first.
        """
        from clearformer.explanation.render import plain, render

        return plain(render(self, width, layer, head))

    @property
    def masks(self) -> dict[int, tuple[tuple[str, float], ...]]:
        """For the position of each mask the most likely tokens, the likeliest first."""
        probabilities = self["probabilities"][0]
        return {
            place: self.subject.most_likely(np.asarray(probabilities[place]))
            for place in self.subject.masks
        }

    def to_json(self) -> dict[str, Any]:
        """A document for strict JSON: tokens, ids, stages, next and notes; of masks, each one's.

        Numbers are exact. What JSON cannot write is null: −∞ in `masked_scores`, and whatever an
        edit has made infinite or not a number.
        """
        return {
            "tokens": list(self.tokens),
            "ids": list(self.ids),
            "stages": [stage.to_json() for stage in self.stages],
            "next": _shares(self.next),
            **({"masks": self._masks_to_json()} if self.subject.masks else {}),
            "notes": list(self.notes),
        }

    def _masks_to_json(self) -> list[dict[str, Any]]:
        return [
            {"position": place, "candidates": _shares(found)} for place, found in self.masks.items()
        ]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        count = len(self.tokens)
        return f"<Trace of {count} token{'s' * (count != 1)} in {len(self)} stages; print it>"


def _nearest(name: str, names: list[str]) -> list[str]:
    """Names that end in it, or that are spelled like it, whole or in their last word."""
    ending = [known for known in names if known.endswith(f".{name}")]
    last = {known.rpartition(".")[2]: known for known in reversed(names)}
    words = get_close_matches(name.rpartition(".")[2], last, 2)
    spelled = get_close_matches(name, names, 3, cutoff=0.7)
    found = dict.fromkeys([*ending, *spelled, *(last[word] for word in words)])
    return list(found)[:3] or names[:3]


def _shares(found: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    return [{"token": token, "probability": p if isfinite(p) else None} for token, p in found]


def _strict(values: np.ndarray) -> Any:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return values.tolist()
    strict = values.astype(object)
    strict[~np.isfinite(values)] = None
    return strict.tolist()
