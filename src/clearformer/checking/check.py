"""Judges a function, a module, or a file, and keeps the verdict together with its words."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.checking.catalogue import find
from clearformer.checking.document import document_of
from clearformer.checking.exercise import Exercise
from clearformer.checking.judging import judge
from clearformer.checking.picture import picture_of
from clearformer.checking.record import Record
from clearformer.checking.rendering import text_of
from clearformer.checking.running.apart import prepared, try_apart
from clearformer.checking.running.here import try_here
from clearformer.checking.running.probes import all_probes
from clearformer.checking.running.process import Process
from clearformer.checking.sound import require_sound
from clearformer.checking.verdict import Verdict
from clearformer.checking.words import LANGUAGES
from clearformer.errors import ConfigurationError

HINTS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Check:
    """What is said of one answer; prints as its text, shows as a picture in a notebook."""

    judged: Verdict
    language: str = "en"
    hint: int = 0

    @property
    def verdict(self) -> str:
        """right, variant (right by another convention), wrong or failed (could not be judged)."""
        return self.judged.kind

    @property
    def is_right(self) -> bool:
        """Whether it is right, by the exercise's convention or by another."""
        return self.judged.status == 0

    @property
    def mistakes(self) -> list[str]:
        """Keys of the catalogue."""
        return self.judged.mistakes

    @property
    def message(self) -> str:
        """At most twelve lines for a person."""
        return text_of(self.judged, self.language, self.hint)

    def to_json(self) -> dict[str, Any]:
        """The document that `clearformer check --json` prints."""
        return document_of(self.judged, self.language, self.hint)

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"<Check of {self.judged.exercise.name}: {self.verdict} {self.mistakes}>"

    def _repr_html_(self) -> str:
        return picture_of(self.judged, self.message, self.language)


def check(
    answer: Callable[..., Any], exercise: str | Exercise, *, language: str = "en", hint: int = 0
) -> Check:
    """Says whether a function is right, and if not, names the mistake.

    >>> import clearformer as cf, numpy as np
    >>> def softmax(x):
    ...     return np.exp(x) / np.exp(x).sum(0)
    >>> cf.check(softmax, "softmax").mistakes
    ['softmax-axis0']

    The function runs in this process, as a notebook's must: without limits of time or memory. A
    file is judged apart by `check_file` and `clearformer check`.

    Args:
        answer: a function, or an `nn.Module` (instance or class), for NumPy or PyTorch.
        exercise: a name of `clearformer check --list`, a teacher's exercise file, or an Exercise.
        language: of what is said, en or ja.
        hint: 0 none, 1 a question, 2 the way out in words, 3 the line of code as well.

    Raises:
        ConfigurationError: no such exercise, or one that fails itself; no such language or hint;
            something that cannot be called.
    """
    require(language, hint)
    chosen = exercise if isinstance(exercise, Exercise) else find(str(exercise))
    if not callable(answer):
        raise ConfigurationError(
            f"check needs a function or a module; got {type(answer).__name__}: write "
            f"check({chosen.name}, {chosen.name!r}), the function without brackets"
        )
    require_sound(chosen)
    return Check(_judged(chosen, try_here(answer, chosen)), language, hint)


def check_file(
    file: Path | str,
    exercise: str,
    *,
    function: str | None = None,
    language: str = "en",
    hint: int = 0,
    seconds: float = 10,
    process: Process | None = None,
) -> Check:
    """Judges a function of a file in a process of its own, with limits of time, memory and output.

    Args:
        file: Python source.
        exercise: a name of `clearformer check --list`, or a teacher's exercise file.
        function: its name; None for that of the exercise, or the only one in the file.
        language: of what is said, en or ja.
        hint: as in `check`.
        seconds: the whole may take.
        process: one that `prepared` gave for this file, to save the time that loading takes.

    Raises:
        ConfigurationError: no such exercise, or one that fails itself; no such language or hint.
    """
    require(language, hint)
    process = process or prepared(Path(file))  # loads while the exercise is read
    try:
        chosen = find(exercise)
        require_sound(chosen)
        record = try_apart(Path(file), function, exercise, seconds=seconds, process=process)
    finally:
        if process:
            process.end()
    return Check(_judged(chosen, record), language, hint)


def require(language: str, hint: int) -> None:
    """Refuses what there is not. Raises ConfigurationError."""
    if language not in LANGUAGES:
        raise ConfigurationError(
            f"language must be one of {', '.join(LANGUAGES)}; got {language!r:.40}"
        )
    if hint not in HINTS:
        raise ConfigurationError(f"hint must be 0, 1, 2 or 3; got {hint!r:.40}")


def _judged(exercise: Exercise, record: Record) -> Verdict:
    return judge(exercise, record, all_probes(exercise, record.style))
