"""What the process of an answer is told, and what it says while it works."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from clearformer.checking.record import Raised, Record


@dataclass(frozen=True)
class Job:
    """One file to try."""

    file: str
    source: str
    function: str | None
    exercise: str
    """A name of the catalogue or the path of a teacher's file."""
    seconds: float
    memory: int
    """Bytes beyond what Python needs; 0 for no limit."""
    torch: bool = False
    """Whether PyTorch is loaded before, so that its loading does not count."""
    without: Mapping[str, Raised] = field(default_factory=dict)
    """Probes that ended or hung the process before, with what is said of them."""


@dataclass(frozen=True)
class Step:
    """What the process is about to do."""

    probe: str
    """"" for running the file itself."""
    seconds: float
    """After which it has ended itself."""


MESSAGES = {"step": Step, "record": Record, "wrong-exercise": str}
"""What the process says, by kind."""
