"""Pairs that a model is judged by."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.text.pair_ids import PairIds
from clearformer.text.pairs import Pair
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.judged import BYTE, Judged, spelled_bytes


@dataclass(frozen=True, kw_only=True)
class JudgedPairs(Judged):
    """Tokens and characters are those of the targets; the end of each counts as one of both."""

    pairs: PairIds
    targets: tuple[str, ...]
    """As they were, in characters."""
    tokenizer: Tokenizer

    @property
    def is_enough(self) -> bool:
        """Whether there is anything to predict."""
        return len(self.pairs) > 0

    @property
    def tokens(self) -> int:
        """How many are predicted: those of the targets, and the end of each."""
        return self.pairs.tokens


def judged_pairs(tokenizer: Tokenizer, pairs: Sequence[Pair]) -> JudgedPairs:
    """Reads pairs for an evaluation; what is unknown is charged for as in `judged`."""
    targets = tuple(target for _, target in pairs)
    ids = PairIds.of(tokenizer, pairs)
    unknown: Counter[str] = Counter()
    for target in targets:
        unknown.update(tokenizer.unknown(target))
    return JudgedPairs(
        ids=ids.targets.ids,
        characters=sum(map(len, targets)) + len(targets),
        unknown=unknown,
        spelling=spelled_bytes(tokenizer.kind, unknown) * BYTE,
        unknown_tokens=unknown.total(),
        pairs=ids,
        targets=targets,
        tokenizer=tokenizer,
    )
