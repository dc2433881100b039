"""One token per character."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.counts import Counts
from clearformer.text.cuts import Cuts
from clearformer.text.exact_json import canonical_json
from clearformer.text.ids import Ids, checked_id, checked_ids, id_type
from clearformer.text.scripts import LONE_SURROGATE

CHUNK = 1 << 16
"""Characters handled at a time: 256 KiB of code points, which stay in the processor's cache."""


class Characters:
    """The distinct characters of a text in the order of their code points; no extra ids.

    `encode` leaves out what the vocabulary lacks; `unknown` lists it.
    """

    kind = "characters"
    control_ids: tuple[int, ...] = ()
    most_pieces = sys.maxunicode + 1

    def __init__(self, characters: str) -> None:
        """`characters` is not empty, strictly ascending, and holds no lone surrogate.

        Raises:
            TokenizerError: it is not so.
        """
        if not characters:
            raise TokenizerError("a vocabulary needs at least one character; got none")
        if LONE_SURROGATE.search(characters):
            raise TokenizerError("a vocabulary of characters holds no lone surrogates")
        self._characters = characters
        self._points = _code_points(characters).astype(np.int64)
        if not np.all(np.diff(self._points) > 0):
            raise TokenizerError("the characters of a vocabulary must be distinct and ascending")

    @classmethod
    def of(cls, text: str, vocabulary: int | None = None) -> "Characters":
        """The tokenizer of all characters of `text`.

        Raises:
            TokenizerError: there is no character in it.
            ConfigurationError: `vocabulary` is less than the number of distinct characters.
        """
        counts = Counts(cls.most_pieces)
        counts.add(cls.count(text))
        return cls.from_counts(counts, vocabulary)

    @staticmethod
    def cuts() -> Cuts:
        """Everywhere."""
        return Cuts(always=None)

    @staticmethod
    def check_vocabulary(vocabulary: int | None) -> None:
        """Any number can do; which is too small depends on the text."""

    @staticmethod
    def count(block: str) -> dict[str, int]:
        """The characters that occur; how often does not matter."""
        return dict.fromkeys(sorted(set(block)), 1)

    @classmethod
    def from_counts(cls, counts: Counts, vocabulary: int | None = None) -> "Characters":
        """The tokenizer of all characters that the blocks of a text hold.

        Raises:
            TokenizerError: there is no character in it.
            ConfigurationError: `vocabulary` is less than the number of distinct characters.
        """
        found = LONE_SURROGATE.sub("", "".join(sorted(counts.table)))
        if not found:
            raise TokenizerError("a tokenizer needs a text with at least one character; got none")
        if vocabulary is not None and vocabulary < len(found):
            raise ConfigurationError(
                f"the text has {len(found)} distinct characters, more than the vocabulary of "
                f"{vocabulary} asked for; leave it out, or use byte pairs (--tokenizer bytepair)"
            )
        return cls(found)

    @property
    def vocabulary_size(self) -> int:
        """Number of distinct characters."""
        return len(self._characters)

    def encode(self, text: str) -> Ids:
        """Ids of the known characters of `text`, in order."""
        encoded = np.empty(len(text), id_type(self.vocabulary_size))
        filled = 0
        for _, ids in self._looked_up(text):
            known = ids[ids >= 0]
            encoded[filled : filled + known.size] = known
            filled += known.size
        return encoded if filled == encoded.size else encoded[:filled].copy()

    def unknown(self, text: str) -> dict[str, int]:
        """How often `text` has each character that the vocabulary lacks, first seen first."""
        counts: dict[str, int] = {}
        for points, ids in self._looked_up(text):
            missing, first, number = np.unique(
                points[ids < 0], return_index=True, return_counts=True
            )
            for place in np.argsort(first):
                character = chr(int(missing[place]))
                counts[character] = counts.get(character, 0) + int(number[place])
        return counts

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """The text of `ids`. Raises TokenizerError for an id out of range."""
        known = checked_ids(ids, self.vocabulary_size)
        return "".join(
            self._points[known[start : start + CHUNK]].astype("<u4").tobytes().decode("utf-32-le")
            for start in range(0, known.size, CHUNK)
        )

    def token_text(self, id: int) -> str:
        """The character itself."""
        return self._characters[checked_id(id, self.vocabulary_size)]

    def token_bytes(self, id: int) -> bytes:
        """The character in UTF-8."""
        return self.token_text(id).encode("utf-8")

    def joint(self, previous: int, following: int) -> str:
        """Nothing stands between two characters."""
        return ""

    def to_json(self) -> dict[str, object]:
        """The vocabulary as one string."""
        return {"characters": self._characters}

    @classmethod
    def from_json(cls, fields: dict[str, object]) -> "Characters":
        """The opposite of `to_json`. Raises TokenizerError for anything else."""
        characters = fields.get("characters")
        if set(fields) != {"characters"} or not isinstance(characters, str):
            raise TokenizerError('expected one field, "characters", that holds a string')
        return cls(characters)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of kind and vocabulary."""
        return hashlib.sha256(canonical_json({"kind": self.kind, **self.to_json()})).hexdigest()

    @cached_property
    def _table(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Id by code point; -1 where there is none. The last entry stands for all above."""
        table = np.full(int(self._points[-1]) + 2, -1, np.int32)
        table[self._points] = np.arange(self.vocabulary_size, dtype=np.int32)
        return table

    def _looked_up(self, text: str) -> Iterator[tuple[Ids, Ids]]:
        """Code points and their ids (-1: unknown), a chunk at a time."""
        above = self._table.size - 1
        for start in range(0, len(text), CHUNK):
            points = _code_points(text[start : start + CHUNK])
            yield points, self._table[np.minimum(points, above)]


def _code_points(text: str) -> Ids:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
