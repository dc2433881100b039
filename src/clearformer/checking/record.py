"""What happened when an answer was tried: the only thing that judging knows of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from clearformer.checking.words import Words

Library = Literal["numpy", "torch"]


@dataclass(frozen=True)
class Style:
    """How the answer wants to be called."""

    library: Library = "numpy"
    batched: bool = False
    """Whether every argument that may have a batch axis gets one."""
    narrow: bool = False
    """Whether arguments are as `ModuleForm.narrowed` gives them: for a module with fewer sizes."""


@dataclass(frozen=True)
class Raised:
    """An exception, as the learner can use it."""

    kind: str
    """Its class, such as "ValueError"; "Timeout" where a call took too long."""
    message: str
    line: int | None = None
    """In the learner's own file: the last of its lines that was running."""
    source: str = ""
    """That line as it is written."""
    shapes: Mapping[str, str] = field(default_factory=dict)
    """Of the arrays that had a name there: {"Q": "(5, 3)"}."""


@dataclass(frozen=True)
class Changed:
    """An argument that the answer wrote into."""

    argument: str
    line: int | None = None
    source: str = ""


@dataclass(frozen=True)
class Warned:
    """A warning while the answer ran, such as an overflow in exp."""

    message: str
    line: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What one probe gave."""

    values: Mapping[str, np.ndarray] | None = None
    """Arrays by the names of what is returned; None where nothing usable came."""
    raised: Raised | None = None
    unusable: Words | None = None
    """What came instead of the values, in few words: "nothing (None), expected array"."""
    foreign: Words | None = None
    """What the values were wrapped in that they should not be: "a list", "a torch.Tensor"; the
    values are there, but the answer cannot be right."""
    repeats: bool = True
    """Whether the same call gave the same again, also after another call."""
    changed: Sequence[Changed] = ()
    warned: Sequence[Warned] = ()
    skipped: bool = False
    """Not called, because the answer lacks a parameter that the probe needs."""
    lacks: str | None = None
    """That parameter, by its name in the exercise; None where it is more than one parameter."""


@dataclass(frozen=True)
class Failure:
    """Why nothing could be tried at all."""

    kind: Literal[
        "file", "import", "missing", "signature", "timeout", "memory", "died", "output", "input"
    ]
    message: Words
    raised: Raised | None = None
    nearest: Sequence[str] = ()
    """Names of functions that were probably meant."""


@dataclass(frozen=True)
class Record:
    """Everything that is known of one answer."""

    function: str
    file: str | None
    style: Style
    outcomes: Mapping[str, Outcome]
    """By the name of the probe."""
    failure: Failure | None = None
    notes: Sequence[str] = ()
    """Keys of what else is worth telling: "prints", "work-at-import" (it does more than define
    things when it is run), "leaves-a-thread", "leaves-a-process", "not-contained" (tried in this
    process), "other-default:eps=1e-06" (its default is not that of the exercise)."""
    printed: str = ""
    """The beginning of what the file printed."""
