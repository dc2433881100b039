"""Copying: the target is the source."""

from dataclasses import dataclass
from typing import ClassVar

from clearformer.tasks.letters import LettersTask


@dataclass(frozen=True)
class Copy(LettersTask):
    """abca → abca."""

    name: ClassVar[str] = "copy"

    def target(self, source: str) -> str:
        """The source."""
        return source
