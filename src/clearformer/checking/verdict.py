"""What is said of an answer, before it is put into words for a terminal, a notebook or JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clearformer.checking.exercise import Case, Change, Exercise, Mistake, Variant
from clearformer.checking.record import Record
from clearformer.checking.words import Words

Kind = Literal["right", "variant", "wrong", "failed"]


@dataclass(frozen=True)
class Finding:
    """Something that is true of the answer, with its evidence."""

    says: Words
    key: str | None = None
    """In the catalogue; None for what has no name."""
    evidence: Words | None = None
    mistake: Mistake | None = None
    """Where there is more to tell: why it matters, hints."""
    variant: Variant | None = None
    """Where it is only another convention."""


@dataclass(frozen=True)
class Verdict:
    """Right, right by another convention (variant), wrong, or failed: could not be judged."""

    exercise: Exercise
    record: Record
    kind: Kind
    headline: Words
    """Behind the verdict, in a few words: "values differ on 5 of 6 inputs"."""
    findings: Sequence[Finding] = ()
    """What is wrong, or which convention it is. Several: they are true together."""
    alternatives: Sequence[Sequence[Change]] = ()
    """More than one where the answer can be explained in several ways that nothing tells apart."""
    beside: Sequence[Finding] = ()
    """Said beside the verdict, never deciding it: hard inputs, arguments written into."""
    looked_at: tuple[int, int] = (0, 0)
    """Single changes and pairs that were tried."""
    variant: Variant | None = None
    unwritten: bool = False
    """Whether it is failed because it is still the file to start from."""
    failing: Case | None = None
    """The smallest input on which the answer differs."""

    @property
    def mistakes(self) -> list[str]:
        """Keys: the convention, what is wrong (all of a tie), what stands beside."""
        changes = [change for each in self.alternatives for change in each]
        keys = [change.key for change in changes if isinstance(change, Mistake)]
        named = [each for each in (*self.findings, *self.beside) if each.key and not each.variant]
        keys += [str(each.key) for each in named]
        return list(dict.fromkeys([self.variant.key, *keys] if self.variant else keys))

    @property
    def status(self) -> int:
        """Of the command: 0 right or variant, 1 wrong, 2 could not run."""
        return {"right": 0, "variant": 0, "wrong": 1, "failed": 2}[self.kind]
