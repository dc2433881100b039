"""What is explained: a model, its tokenizer and the ids of a sentence; and how it is traced."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.engines.dispatch import array_of, engine_of
from clearformer.errors import ConfigurationError
from clearformer.explanation.anatomy import Anatomy, anatomy_of
from clearformer.explanation.axes import STAGE_AXES, HeadView, split_name
from clearformer.explanation.edits import FOLLOWS_FROM, Edits, changed
from clearformer.explanation.trace import NamedArray, Stage, StageError, Trace
from clearformer.models.tap import Recorder
from clearformer.tensor import Tensor
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.with_mask import WithMask

NEXT = 10
"""So many of the most likely next tokens are listed."""


@dataclass(frozen=True)
class Subject:
    """A model with a sentence in front of it."""

    model: Any
    """Of a kind that `anatomy` knows."""
    tokenizer: Tokenizer
    ids: tuple[int, ...]
    sentence: str
    """As it was given."""
    layer: int | None = None
    """The only layer to show; None for all."""
    head: int | None = None
    """The only head to show; None for all."""
    notes: tuple[str, ...] = ()
    seed: int | None = None
    """Of the random weights of a lesson; None for a trained model."""
    path: Path | None = None
    """The folder of the run; None for a lesson."""
    step: int = 0
    """Updates the model has seen."""

    @cached_property
    def anatomy(self) -> Anatomy:
        """How the model is built."""
        return anatomy_of(self.model)

    @property
    def view(self) -> HeadView:
        """What is shown of the heads."""
        return HeadView(self.anatomy.heads, self.head)

    def token(self, id: int) -> str:
        """The text of one token."""
        return self.tokenizer.token_text(id)

    @cached_property
    def masks(self) -> tuple[int, ...]:
        """The positions of tokens that are to be guessed; only an encoder has any."""
        if not isinstance(self.tokenizer, WithMask):
            return ()
        return tuple(n for n, id in enumerate(self.ids) if id == self.tokenizer.mask)

    @property
    def place(self) -> int:
        """The position whose prediction is told of: of the first mask, else the last one."""
        return self.masks[0] if self.masks else len(self.ids) - 1

    def trace(self, edits: Edits = ()) -> Trace:
        """Runs the model and keeps what it does on the way.

        Raises:
            StageError: for an edit of a stage that does not happen.
            ShapeError: for an edit that does not fit its stage.
        """
        before = None
        if edits:
            before = self.trace()["probabilities"][0, self.place]
        listener = _Listener(self, edits)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):  # edits may do anything
            ids = listener("ids", np.array([self.ids], np.int64))
            logits = self.model(self._checked(ids), listener)
            probabilities = array_of(listener("probabilities", ops.softmax(logits)))
        listener.require_all_heard()
        tokens = np.array([self.token(id) for id in ids[0].tolist()], object)
        return Trace(
            self,
            (Stage("tokens", STAGE_AXES["tokens"], tokens), *listener.stages),
            self.most_likely(probabilities[0, self.place]),
            edits,
            before,
        )

    def _checked(self, ids: np.ndarray) -> np.ndarray:
        last = self.tokenizer.vocabulary_size - 1
        if not ((ids >= 0) & (ids <= last)).all():
            raise ConfigurationError(f"ids are between 0 and {last} in this vocabulary")
        return ids

    def most_likely(self, probabilities: np.ndarray) -> tuple[tuple[str, float], ...]:
        """The likeliest of probabilities (vocab,), as texts, the likeliest first."""
        order = np.argsort(-probabilities, kind="stable")[:NEXT]
        return tuple((self.token(int(id)), float(probabilities[id])) for id in order)


class _Listener:
    """The tap: applies edits, and keeps a copy of what is shown."""

    def __init__(self, subject: Subject, edits: Edits):
        self._subject = subject
        self._view = subject.view
        self._absent = subject.anatomy.absent
        self._names = [name for name, _ in edits]
        self._recorder = Recorder(self._by_stage(edits))
        self._kept: dict[str, Stage] = {}
        self._heard: list[str] = ["tokens"]

    def __call__(self, name: str, x: Tensor) -> Any:
        if split_name(name)[1] in self._absent:
            return x
        self._heard.append(name)
        result = self._recorder(name, x)
        self._recorder.seen.clear()  # the stages hold what is shown; nothing else need stay
        self._keep(name, result)
        return result

    @property
    def stages(self) -> list[Stage]:
        """In the order in which they happened first; each as it was told of last."""
        return list(self._kept.values())

    def require_all_heard(self) -> None:
        """Refuses edits of stages that did not happen."""
        for name in self._names:
            if name not in self._heard:
                raise StageError(name, self._heard)

    def _keep(self, name: str, x: Tensor) -> None:
        block, within = split_name(name)
        if block is not None and self._subject.layer not in (None, block):
            return
        shown = np.array(self._view.shown(name, array_of(x)))
        if within == "attention.products":
            turned = f"blocks.{block}.attention.key_transposed"
            key = self._kept[f"blocks.{block}.attention.key"].values.swapaxes(-1, -2)
            self._kept[turned] = Stage(turned, self._view.axes(turned), key)
        self._kept[name] = Stage(name, self._view.axes(name), shown)

    def _by_stage(self, edits: Edits) -> dict[str, Callable[[Any], Any]]:
        """One function for each edited stage, which makes its changes in the order given."""
        by_name: dict[str, list[Callable[[Any], Any]]] = {}
        for name, change in edits:
            source = FOLLOWS_FROM.get(split_name(name)[1])
            if source is not None:
                raise ConfigurationError(f"{name} follows from {source}; edit that instead")
            by_name.setdefault(name, []).append(self._edit(name, change))
        return {name: _one_after_another(changes) for name, changes in by_name.items()}

    def _edit(self, name: str, change: Any) -> Callable[[Any], Any]:
        def edit(x: Any) -> Any:
            array = array_of(x)
            shown = NamedArray(self._view.shown(name, array), self._view.axes(name))
            edited = self._view.put_back(name, array, changed(name, change, shown))
            return engine_of(x).from_array(edited, x)

        return edit


def _one_after_another(changes: Iterable[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    steps = tuple(changes)
    return lambda x: reduce(lambda value, step: step(value), steps, x)


def showing(subject: Subject, layer: int | None, head: int | None) -> Subject:
    """The same subject with one layer or head chosen.

    Raises:
        ConfigurationError: if the model has no such layer or head.
    """
    anatomy = subject.anatomy
    for name, chosen, count in (("layer", layer, anatomy.layers), ("head", head, anatomy.heads)):
        whole = isinstance(chosen, int) and not isinstance(chosen, bool)
        if chosen is not None and not (whole and 0 <= chosen < count):
            if not count:
                raise ConfigurationError(f"this model has no {name}s; leave out {name}={chosen}")
            numbers = f"between 0 and {count - 1}" if count > 1 else "0"
            raise ConfigurationError(
                f"{name} must be {numbers}: this model has {count} {name}{'s' * (count != 1)}; "
                f"got {chosen}"
            )
    return replace(subject, layer=layer, head=head)
