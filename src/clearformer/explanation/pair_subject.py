"""What is explained of a model on pairs: a source, and the target that it writes for it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearformer import ops
from clearformer.engines.dispatch import array_of, engine_of
from clearformer.errors import ConfigurationError
from clearformer.explanation.axes import STAGE_AXES, split_name
from clearformer.explanation.edits import Edits, changed
from clearformer.explanation.trace import NamedArray, Stage, StageError, Trace
from clearformer.models.pairs.marks import SHOWN, begin_of, end_of
from clearformer.models.pairs.search import search
from clearformer.models.tap import Recorder
from clearformer.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from clearformer.runs.run import Run

NEXT = 10
"""So many of the most likely last tokens are listed."""

FOLLOW = ("tokens", "ids", "target_tokens", "target_ids")
"""Stages that say what was read; the sentence decides them."""


@dataclass(frozen=True)
class PairSubject:
    """A model on pairs with a source in front of it."""

    model: Any
    tokenizer: Tokenizer
    title: str
    """What a person calls the model."""
    sources: tuple[int, ...]
    """The ids of the source, without its end."""
    longest: int
    """Tokens of a target, its end included."""
    sentence: str
    """As it was given."""
    layer: int | None = None
    """The only layer to keep; None for all."""
    head: int | None = None
    """The only head to keep; None for all."""
    notes: tuple[str, ...] = ()
    path: Path | None = None
    step: int = 0
    """Updates the model has seen."""

    @property
    def masks(self) -> tuple[int, ...]:
        """A model on pairs fills in no blanks."""
        return ()

    def token(self, id: int) -> str:
        """The text of one token, or its mark."""
        place = id - self.model.vocabulary
        return SHOWN[place] if place >= 0 else self.tokenizer.token_text(id)

    @cached_property
    def answer(self) -> tuple[int, ...]:
        """The ids of the target that the model writes, the likeliest at each step; with its end."""
        (found,) = search(
            self.model,
            self._read,
            None,
            longest=self.longest,
            never=self.tokenizer.control_ids,
        )
        return (*found.ids, end_of(self.model.vocabulary)) if found.ended else found.ids

    @property
    def answer_text(self) -> str:
        """The target as a text."""
        return self.tokenizer.decode([id for id in self.answer if id < self.model.vocabulary])

    @property
    def _read(self) -> np.ndarray:
        return np.array([[*self.sources, end_of(self.model.vocabulary)]], np.int64)

    def trace(self, edits: Edits = ()) -> Trace:
        """Runs the model over the source and its own target, and keeps what it does on the way.

        With edits the target that is read stays what it was; what changes is what is expected.

        Raises:
            StageError: for an edit of a stage that does not happen.
            ShapeError: for an edit that does not fit its stage.
        """
        before = self.trace()["probabilities"][0, -1] if edits else None
        listener = _Listener(self, edits)
        sources, written = self._read, np.array([self.answer], np.int64)
        inputs = np.array([[begin_of(self.model.vocabulary), *self.answer[:-1]]], np.int64)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # edits may do anything
            logits = self.model(sources, inputs, tap=listener)
            probabilities = array_of(listener("probabilities", ops.softmax(logits)))
        listener.require_all_heard()
        stages = (
            Stage("tokens", ("source",), self._texts(sources)),
            Stage("ids", ("batch", "source"), sources),
            Stage("target_tokens", ("target",), self._texts(written)),
            Stage("target_ids", ("batch", "target"), written),
            *listener.kept.values(),
        )
        subject: Any = self
        return Trace(subject, stages, self.most_likely(probabilities[0, -1]), edits, before)

    def _texts(self, ids: np.ndarray) -> np.ndarray:
        return np.array([self.token(id) for id in ids[0].tolist()], object)

    def most_likely(self, probabilities: np.ndarray) -> tuple[tuple[str, float], ...]:
        """Some of the likeliest tokens and their probabilities, the likeliest first."""
        order = np.argsort(-probabilities, kind="stable")[:NEXT]
        return tuple((self.token(int(id)), float(probabilities[id])) for id in order)


class _Listener:
    """The tap: applies edits, and keeps a copy of every stage."""

    def __init__(self, subject: PairSubject, edits: Edits):
        self._subject = subject
        self._names = [name for name, _ in edits]
        for name in self._names:
            if name in FOLLOW:
                raise ConfigurationError(f"{name} follows from the sentence; edit a later stage")
        changes: dict[str, Callable[[Any], Any]] = {}
        for name, change in edits:
            changes[name] = _then(changes.get(name), _edit(name, change))
        self._recorder = Recorder(changes)
        self._heard: list[str] = []
        self.kept: dict[str, Stage] = {}

    def __call__(self, name: str, x: Any) -> Any:
        self._heard.append(name)
        result = self._recorder(name, x)
        self._recorder.seen.clear()
        if self._subject.layer in (None, layer_of(name)) or layer_of(name) is None:
            self._keep(name, np.array(array_of(result)))
        return result

    def _keep(self, name: str, values: np.ndarray) -> None:
        axes = axes_of(name, values.ndim)
        if self._subject.head is not None and "head" in axes:
            axes, values = _without_head(axes), values[:, self._subject.head]
        self.kept[name] = Stage(name, axes, values)

    def require_all_heard(self) -> None:
        """Refuses edits of stages that did not happen."""
        for name in self._names:
            if name not in self._heard:
                raise StageError(name, self._heard)


def _then(first: Callable[[Any], Any] | None, second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return second if first is None else lambda x: second(first(x))


def _edit(name: str, change: Any) -> Callable[[Any], Any]:
    def edit(x: Any) -> Any:
        array = array_of(x)
        edited = changed(name, change, NamedArray(array, axes_of(name, array.ndim)))
        return engine_of(x).from_array(np.asarray(edited, array.dtype), x)

    return edit


def within(name: str) -> str:
    """The name of a stage within its layer, as a decoder has it.

    `decoder.blocks.1.cross.weights` → `attention.weights`.
    """
    inner = split_name(_inner(name))[1].removeprefix("backwards.")
    first, _, rest = inner.partition(".")
    if first.isdecimal():
        inner = rest
    return f"attention.{rest}" if first == "cross" else inner


def _inner(name: str) -> str:
    return name.removeprefix("encoder.").removeprefix("decoder.")


def layer_of(name: str) -> int | None:
    """The number of the layer to which a stage belongs; None outside the layers."""
    number = name.split(".")[2] if name.count(".") > 2 else ""
    return int(number) if number.isdecimal() else None


def axes_of(name: str, count: int) -> tuple[str, ...]:
    """The names of the axes of a stage that has so many."""
    inner = within(name)
    axes = STAGE_AXES.get(inner, STAGE_AXES["embedding"])
    if name in ("encoder.output", "decoder.attention.output"):  # of recurrent layers
        axes = STAGE_AXES["hidden"]
    return axes if len(axes) == count else _without_head(axes)


def _without_head(axes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(axis for axis in axes if axis != "head")


def pair_subject(run: "Run", sentence: str, layer: int | None, head: int | None) -> PairSubject:
    """The subject of a run on pairs.

    Raises:
        TextError: nothing in the sentence is known, or it is longer than the model bears.
        ConfigurationError: the model has no such layer or head.
    """
    from clearformer.runs.translation import source_ids

    configuration: Any = run.configuration
    heads = getattr(configuration, "heads", 1)
    for name, chosen, count in (("layer", layer, configuration.layers), ("head", head, heads)):
        whole = isinstance(chosen, int) and not isinstance(chosen, bool)
        if chosen is not None and not (whole and 0 <= chosen < count):
            numbers = f"between 0 and {count - 1}" if count > 1 else "0"
            raise ConfigurationError(
                f"{name} must be {numbers}: this model has {count} {name}{'s' * (count != 1)}; "
                f"got {chosen}"
            )
    subject = PairSubject(
        run.model,
        run.tokenizer,
        configuration.title,
        tuple(int(id) for id in source_ids(run, sentence)),
        configuration.window,
        sentence,
        notes=run.unknown_notes(sentence),
        path=run.path,
        step=run.step,
    )
    # a choice of heads means nothing where no stage has that axis
    return replace(subject, layer=layer, head=head if hasattr(configuration, "heads") else None)
