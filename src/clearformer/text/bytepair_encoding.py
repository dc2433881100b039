"""Encoding by byte pairs: a short text piece by piece, a long one all pieces at once."""

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clearformer.text.cuts import blocks, sliced
from clearformer.text.ids import Ids, id_type, stretches
from clearformer.text.merging import Merging
from clearformer.text.piece_table import PieceTable
from clearformer.text.pieces import CUTS, PIECE

LONG = 1 << 15
"""Characters from which on a text is encoded at once: sooner or later the quicker way, depending
on how many of its pieces were met before, which only the other way remembers."""

AT_ONCE = 1 << 19
"""Characters of a block that is encoded at once; it takes 20 to 60 bytes for each meanwhile."""

REMEMBERED = 1 << 16
"""Pieces whose ids are kept; a text of a few megabytes has fewer distinct ones."""


class Encoder:
    """From text to ids by given merges, always those of the definition."""

    def __init__(
        self, merges: Sequence[tuple[int, int]], made: Sequence[int], tokens: Sequence[bytes]
    ) -> None:
        """Merges of two ids, the id that each makes, and the bytes of every id."""
        self._merges, self._made, self._tokens = merges, made, tokens
        self._remembered = _Remembered(self._merged)

    def __call__(self, text: str) -> Ids:
        """Ids of a text free of lone surrogates."""
        if len(text) < LONG:
            encoded = b"".join(map(self._remembered.__getitem__, PIECE.findall(text)))
            return np.frombuffer(encoded, np.uintc).astype(id_type(len(self._tokens)))
        if len(text) > AT_ONCE:
            _reuse_freed_memory(16 * AT_ONCE)
        parts = blocks(sliced(text, AT_ONCE), CUTS, AT_ONCE)
        return np.concatenate([self.at_once(part) for part in parts])

    def at_once(self, text: str) -> Ids:
        """The same, at least one character, where each different piece is merged once."""
        pieces = PieceTable.of(text)
        ids, sizes = self._merging(pieces.points(), pieces.lengths)
        ids = ids.astype(id_type(len(self._tokens)))
        begins = np.cumsum(sizes) - sizes
        return stretches(ids, begins.take(pieces.numbers), sizes.take(pieces.numbers))

    @cached_property
    def _merging(self) -> Merging:
        return Merging(self._merges, self._made)

    def _merged(self, piece: str) -> bytes:
        spelled = piece.encode("utf-8").decode("latin-1")
        return array("I", [token.id for token in self._model.tokenize(spelled)]).tobytes()

    @cached_property
    def _model(self) -> Any:
        """The `tokenizers` library's merging; a byte is written as the character of its number."""
        from tokenizers.models import BPE

        spelled = [token.decode("latin-1") for token in self._tokens]
        return BPE(
            vocab={token: id for id, token in enumerate(spelled)},
            merges=[(spelled[left], spelled[right]) for left, right in self._merges],
        )


def _reuse_freed_memory(size: int) -> None:
    """Makes glibc reuse the memory of freed arrays; else a sixth of the time goes into new pages.

    It returns to the system what is freed beyond twice the largest array that it has seen freed,
    and the system then clears each page anew. This one is freed before any page of it is used.
    """
    np.empty(size, np.uint8)


class _Remembered(dict[str, bytes]):
    """The ids of pieces met before, as the bytes of an array."""

    def __init__(self, merged: Callable[[str], bytes]) -> None:
        super().__init__()
        self._merged = merged

    def __missing__(self, piece: str) -> bytes:
        if len(self) >= REMEMBERED:
            self.clear()
        self[piece] = ids = self._merged(piece)
        return ids
