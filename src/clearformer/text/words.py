"""One token per word, and one per separator that is not an ordinary space."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import repeat

import numpy as np

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.counts import Counts, most_frequent
from clearformer.text.cuts import Cuts, blocks, sliced
from clearformer.text.exact_json import canonical_json
from clearformer.text.ids import Ids, checked_id, checked_ids, id_type
from clearformer.text.scripts import LONE_SURROGATE
from clearformer.text.word_runs import letters, told, word_cuts

PAD, UNK = 0, 1
RESERVED = ("<pad>", "<unk>")
"""Ids 0 and 1. Typed by a person, these spellings are a word between two separators."""

MOST_WORDS = 1 << 18
"""Of over twice as many different ones only so many are counted on, the most frequent."""


class Words:
    r"""`<pad>` 0, `<unk>` 1, then words and separators in order of first use.

    A text is cut into runs: words (of letters, digits, marks and inner apostrophes; in Japanese
    and Chinese a run of one script: kanji, hiragana or katakana) and separators (all between).
    No two spaced words and no two separators are neighbours, since runs are as long as they can
    be. So one rule makes the round trip exact: the separator " " between two spaced words has no
    token, every other separator has one, and `decode` puts " " between two spaced words that
    stand side by side, and nothing between other neighbours. A space at the start, at the end or
    beside a kanji or kana is thus a token; the end of one script and the start of the next is none.
    """

    kind = "words"
    control_ids: tuple[int, ...] = (PAD, UNK)
    most_pieces = MOST_WORDS

    def __init__(self, words: Sequence[str]) -> None:
        """`words` are the entries from id 2 on: distinct, not empty, no lone surrogates.

        Raises:
            TokenizerError: it is not so, or there is none.
        """
        self._words = (*RESERVED, *words)
        self._ids = {word: id for id, word in enumerate(self._words)}
        if not words:
            raise TokenizerError("a vocabulary needs at least one word; got none")
        if len(self._ids) != len(self._words):
            raise TokenizerError("the words of a vocabulary must be distinct")
        if "" in self._ids or any(LONE_SURROGATE.search(word) for word in words):
            raise TokenizerError("a word is not empty and holds no lone surrogate")

    @classmethod
    def of(cls, text: str, vocabulary: int | None = None) -> "Words":
        """The words and separators of `text`; with `vocabulary` only the most frequent.

        Raises:
            TokenizerError: there is nothing in the text.
            ConfigurationError: the vocabulary has no place for a word beside the reserved ids.
        """
        cls.check_vocabulary(vocabulary)
        counts = Counts(cls.most_pieces)
        for block in blocks(sliced(text), cls.cuts()):
            counts.add(cls.count(block))
        return cls.from_counts(counts, vocabulary)

    @staticmethod
    def cuts() -> Cuts:
        """Between a separator that is not one space and a run, and around an implied space."""
        return word_cuts()

    @staticmethod
    def check_vocabulary(vocabulary: int | None) -> None:
        """Raises ConfigurationError where no place is left beside the reserved ids."""
        if vocabulary is not None and vocabulary <= len(RESERVED):
            raise ConfigurationError(
                f"a vocabulary of words has at least {len(RESERVED) + 1} entries "
                f"({', '.join(RESERVED)} and one word); got {vocabulary}"
            )

    @staticmethod
    def count(block: str) -> dict[str, int]:
        """How often each word and separator occurs in a block, first seen first."""
        counts = Counter(told(block))
        if LONE_SURROGATE.search(block):
            for piece in [piece for piece in counts if LONE_SURROGATE.search(piece)]:
                del counts[piece]
        return counts

    @classmethod
    def from_counts(cls, counts: Counts, vocabulary: int | None = None) -> "Words":
        """The words and separators that the blocks of a text hold, or the most frequent of them.

        Raises:
            TokenizerError: there is none.
            ConfigurationError: the vocabulary has no place for a word; or the text has so many
                different words that it needs a smaller one.
        """
        cls.check_vocabulary(vocabulary)
        if counts.pruned and (vocabulary is None or vocabulary > cls.most_pieces):
            raise ConfigurationError(
                f"the text has more than {2 * cls.most_pieces:,} different words and separators; "
                f"give a vocabulary of at most {cls.most_pieces:,} (--vocab), or use byte pairs "
                "(--tokenizer bytepair)"
            )
        if vocabulary is None:
            return cls(tuple(counts.table))
        return cls(tuple(most_frequent(counts.table, vocabulary - len(RESERVED))))

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the two reserved ones included."""
        return len(self._words)

    def encode(self, text: str) -> Ids:
        """Ids of `text`; `<unk>` for what the vocabulary lacks."""
        known = map(self._ids.get, told(text), repeat(UNK))
        return np.fromiter(known, id_type(self.vocabulary_size))

    def unknown(self, text: str) -> dict[str, int]:
        """How often `text` has each word or separator that the vocabulary lacks."""
        return dict(Counter(piece for piece in told(text) if piece not in self._ids))

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """The text of `ids`; `<pad>` gives nothing.

        Raises:
            TokenizerError: an id out of range.
        """
        known = checked_ids(ids, self.vocabulary_size).tolist()
        parts: list[str] = []
        spaced = self._spaced
        before = False
        for id in known:
            if before and spaced[id]:
                parts.append(" ")
            parts.append("" if id == PAD else self._words[id])
            before = spaced[id]
        return "".join(parts)

    def token_text(self, id: int) -> str:
        """The word, the separator, `<pad>` or `<unk>`."""
        return self._words[checked_id(id, self.vocabulary_size)]

    def token_bytes(self, id: int) -> bytes:
        """The word in UTF-8, without what `joint` puts before it; nothing for `<pad>`."""
        return b"" if id == PAD else self.token_text(id).encode("utf-8")

    def joint(self, previous: int, following: int) -> str:
        """The space between two spaced words; nothing between others."""
        last = checked_id(previous, self.vocabulary_size)
        next = checked_id(following, self.vocabulary_size)
        return " " if self._spaced[last] and self._spaced[next] else ""

    def to_json(self) -> dict[str, object]:
        """The entries from id 2 on."""
        return {"words": list(self._words[len(RESERVED) :])}

    @classmethod
    def from_json(cls, fields: dict[str, object]) -> "Words":
        """The opposite of `to_json`. Raises TokenizerError for anything else."""
        words = fields.get("words")
        if set(fields) != {"words"} or not isinstance(words, list):
            raise TokenizerError('expected one field, "words", that holds a list')
        if not all(isinstance(word, str) for word in words):
            raise TokenizerError('each of "words" must be a string')
        return cls(tuple(words))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of kind and vocabulary."""
        return hashlib.sha256(canonical_json({"kind": self.kind, **self.to_json()})).hexdigest()

    @cached_property
    def _spaced(self) -> list[bool]:
        """By id: is it a word of a script that puts spaces between words?"""
        begins = re.compile(f"[{letters()}]")
        flags = [begins.match(word) is not None for word in self._words]
        flags[PAD], flags[UNK] = False, True
        return flags
