"""One token per word, and one per separator that is not an ordinary space."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

import numpy as np

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.exact_json import canonical_json
from clearformer.text.ids import Ids, checked_id, checked_ids, id_type
from clearformer.text.scripts import (
    HIRAGANA,
    KANJI,
    KATAKANA,
    LONE_SURROGATE,
    LONG_MARK,
    SOUND_MARKS,
    UNSPACED,
    VARIANTS,
)

PAD, UNK = 0, 1
RESERVED = ("<pad>", "<unk>")
"""Ids 0 and 1. Typed by a person, these spellings are a word between two separators."""


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
        if vocabulary is not None and vocabulary <= len(RESERVED):
            raise ConfigurationError(
                f"a vocabulary of words has at least {len(RESERVED) + 1} entries "
                f"({', '.join(RESERVED)} and one word); got {vocabulary}"
            )
        counts = Counter(piece for piece in _told(text) if not LONE_SURROGATE.search(piece))
        if vocabulary is None or len(counts) <= vocabulary - len(RESERVED):
            return cls(tuple(counts))
        frequent = {word for word, _ in counts.most_common(vocabulary - len(RESERVED))}
        return cls(tuple(word for word in counts if word in frequent))

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the two reserved ones included."""
        return len(self._words)

    def encode(self, text: str) -> Ids:
        """Ids of `text`; `<unk>` for what the vocabulary lacks."""
        ids = self._ids
        return np.fromiter(
            (ids.get(piece, UNK) for piece in _told(text)), id_type(self.vocabulary_size)
        )

    def unknown(self, text: str) -> dict[str, int]:
        """How often `text` has each word or separator that the vocabulary lacks."""
        return dict(Counter(piece for piece in _told(text) if piece not in self._ids))

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
        begins = re.compile(f"[{_letters()}]")
        flags = [begins.match(word) is not None for word in self._words]
        flags[PAD], flags[UNK] = False, True
        return flags


def _told(text: str) -> Iterator[str]:
    """The runs of `text` that have a token: all but " " between two spaced words."""
    begins = re.compile(f"[{_letters()}]").match
    held = ""  # a space that follows a spaced word: told unless a spaced word comes next
    before = False
    for match in _runs().finditer(text):
        run = match[0]
        spaced = begins(run) is not None
        if held and not spaced:
            yield held
        held = ""
        if run == " " and before:
            held = run
        else:
            yield run
        before = spaced
    if held:
        yield held


@cache
def _runs() -> re.Pattern[str]:
    letter = f"[{_letters()}]"
    return re.compile(
        f"{letter}+(?:['\u2019]{letter}+)*"
        f"|[^{_letters()}{UNSPACED}]+"
        f"|[{KANJI}][{KANJI}{VARIANTS}]*"
        f"|[{HIRAGANA}][{HIRAGANA}{LONG_MARK}{SOUND_MARKS}]*"
        f"|[{KATAKANA}][{KATAKANA}{SOUND_MARKS}]*"
    )


@cache
def _letters() -> str:
    r"""Ranges of the letters, digits and marks of scripts that put spaces between words.

    Python's `\w` lacks the combining marks that many scripts write their vowels with. Beyond
    the first plane all scripts count, and no symbols (music, emoji).
    """
    unspaced = re.compile(f"[{UNSPACED}{VARIANTS}]")
    ranges: list[list[int]] = []
    for point in range(0x10000):
        character = chr(point)
        letter = character == "_" or character.isalnum()
        letter = letter or unicodedata.category(character) in ("Mn", "Mc")
        if not letter or unspaced.match(character):
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    first_plane = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    return first_plane + "\U00010000-\U0001cfff\U0001d400-\U0001efff"
