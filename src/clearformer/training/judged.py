"""A text that a model is judged by: its ids, and what these leave out."""

from dataclasses import dataclass
from math import log

from clearformer.text.ids import Ids
from clearformer.text.tokenizer import Tokenizer

BYTE = log(256)
"""Nats of one byte that nothing predicts."""


@dataclass(frozen=True)
class Judged:
    """The tokens of a text, and its characters."""

    ids: Ids
    characters: int
    """Characters of the text, without those of the first token, which nothing predicts."""
    unknown: dict[str, int]
    """What the vocabulary lacks, with counts: words read as `<unk>`, or characters left out."""
    spelling: float
    """Nats that spell what is unknown, byte by byte: see `judged`."""


def judged(tokenizer: Tokenizer, text: str) -> Judged:
    """Reads `text` for an evaluation.

    To predict `<unk>` is easy, and says nothing of the word that stood there. So that bits per
    character stay comparable, whatever is unknown is charged for its spelling in UTF-8, 8 bits for
    each byte, as if nothing were predicted of it; an unknown word also for the mark of its end.
    """
    ids = tokenizer.encode(text)
    unknown = tokenizer.unknown(text)
    end = 0 if tokenizer.kind == "characters" else 1
    spelled = sum(
        (len(piece.encode("utf-8", "surrogatepass")) + end) * count
        for piece, count in unknown.items()
    )
    first = len(tokenizer.decode(ids[:1])) if len(ids) else 0
    return Judged(ids, max(len(text) - first, 0), unknown, spelled * BYTE)
