"""Reversing: the target is the source from its end to its beginning.

What must be written first was read last: the distance between a letter and its answer grows from 1
to twice the length, where in copying it is the length throughout. Sutskever et al. 2014, "Sequence
to sequence learning with neural networks", section 3.3, found that such short distances at the
beginning make a recurrent model learn better.
"""

from dataclasses import dataclass
from typing import ClassVar

from clearformer.tasks.letters import LettersTask


@dataclass(frozen=True)
class Reverse(LettersTask):
    """abca → acba."""

    name: ClassVar[str] = "reverse"

    def target(self, source: str) -> str:
        """The source backwards."""
        return source[::-1]
