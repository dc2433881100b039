"""What is said where nothing could be tried."""

from collections.abc import Sequence
from typing import Any, Literal

from clearformer.checking.record import Failure, Raised
from clearformer.checking.words import Words

Kind = Literal[
    "file", "import", "missing", "signature", "timeout", "memory", "died", "output", "input"
]


def failure(
    kind: Kind,
    english: str,
    japanese: str,
    *,
    raised: Raised | None = None,
    nearest: Sequence[str] = (),
    **facts: Any,
) -> Failure:
    """A failure that says the same in both languages, with each {name} replaced by its fact."""
    return Failure(kind, Words(english, japanese).about(**facts), raised, tuple(nearest))
