"""A text that a model is judged by: its ids, and what these leave out."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log

from clearformer.text.ids import LongIds
from clearformer.text.tokenizer import Tokenizer

BYTE = log(256)
"""Nats of one byte that nothing predicts."""


@dataclass(frozen=True)
class Judged:
    """The tokens of a text, and its characters."""

    ids: LongIds
    characters: int
    """Characters of the text, without those of the first token, which nothing predicts."""
    unknown: Mapping[str, int]
    """What the vocabulary lacks, with counts: words read as `<unk>`, or characters left out.
    Of a text too large for memory only the first of them."""
    spelling: float
    """Nats that spell what is unknown, byte by byte: see `judged`."""
    unknown_tokens: int = 0
    """How often anything unknown occurs."""

    @property
    def is_enough(self) -> bool:
        """Whether there is anything to predict."""
        return len(self.ids) > 1

    @property
    def tokens(self) -> int:
        """How many there are to be judged by."""
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def judged(tokenizer: Tokenizer, text: str) -> Judged:
    """Reads `text` for an evaluation.

    To predict `<unk>` is easy, and says nothing of the word that stood there. So that bits per
    character stay comparable, whatever is unknown is charged for its spelling in UTF-8, 8 bits for
    each byte, as if nothing were predicted of it; an unknown word also for the mark of its end.
    """
    unknown = tokenizer.unknown(text)
    return judged_ids(
        tokenizer,
        tokenizer.encode(text),
        characters=len(text),
        unknown=unknown,
        unknown_tokens=sum(unknown.values()),
        spelled=spelled_bytes(tokenizer.kind, unknown),
    )


def judged_ids(
    tokenizer: Tokenizer,
    ids: LongIds,
    *,
    characters: int,
    unknown: Mapping[str, int],
    unknown_tokens: int,
    spelled: int,
) -> Judged:
    """The same for a text of which the ids are known already, with what they leave out.

    Args:
        tokenizer: that made the ids.
        ids: of the text.
        characters: of the text.
        unknown: what the vocabulary lacks, perhaps only the first of it.
        unknown_tokens: how often any of it occurs.
        spelled: bytes that spell all of it, by `spelled_bytes`.
    """
    first = len(tokenizer.decode(ids[:1])) if len(ids) else 0
    return Judged(ids, max(characters - first, 0), unknown, spelled * BYTE, unknown_tokens)


def spelled_bytes(kind: str, unknown: Mapping[str, int]) -> int:
    """Bytes of UTF-8 that spell what a vocabulary of `kind` lacks, with the ends of words."""
    end = 0 if kind == "characters" else 1
    return sum(
        (len(piece.encode("utf-8", "surrogatepass")) + end) * count
        for piece, count in unknown.items()
    )
