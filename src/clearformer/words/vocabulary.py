"""The words of a text, how often each occurs, and the text as their numbers."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property

import numpy as np

from clearformer.errors import ConfigurationError, TextError
from clearformer.tensor import Int
from clearformer.text.scripts import UNSPACED
from clearformer.text.word_runs import letters, told

SIMILAR = 0.6
"""How alike two spellings are, from 0 to 1, for one to be told instead of the other."""


def folded(word: str) -> str:
    """A word as it is counted: in small letters."""
    return word.lower()


def words_in(text: str) -> list[str]:
    """The words of a text in order, in small letters; what separates them is left out.

    They are those of the tokenizer `words`: in Japanese, runs of one script.
    """
    runs = list(told(folded(text)))
    words = set(filter(_begins_word().match, set(runs)))
    return [run for run in runs if run in words]


@cache
def _begins_word() -> re.Pattern[str]:
    return re.compile(f"[{letters()}{UNSPACED}]")


@dataclass(frozen=True)
class Vocabulary:
    """Words, the most frequent first."""

    words: tuple[str, ...]
    counts: Int[np.ndarray, " vocab"]
    """How often each occurs in the text."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The number of each word."""
        return {word: id for id, word in enumerate(self.words)}

    def id_of(self, word: str) -> int:
        """The number of a word, however its letters are written.

        Raises:
            ConfigurationError: it is not here; with words that are spelled alike.
        """
        if not isinstance(word, str):
            raise ConfigurationError(f"a word is a string; got {word!r:.40}")
        found = self.ids.get(folded(word))
        if found is not None:
            return found
        alike = get_close_matches(folded(word), self.words, 3, SIMILAR)
        hint = f"did you mean {' or '.join(alike)}?" if alike else "no other is spelled like it"
        raise ConfigurationError(
            f"{word!r} is not among the {len(self):,} words that have a vector; {hint} "
            "(rare words are left out; a smaller --least keeps more)"
        )


@dataclass(frozen=True)
class CountedText:
    """A text as numbers of words, the rare ones taken out."""

    vocabulary: Vocabulary
    ids: Int[np.ndarray, " seq"]
    left_out: int
    """Different words that were too rare."""


def count_words(text: str, least: int) -> CountedText:
    """Counts the words of a text; those that occur less than `least` times are taken out.

    Raises:
        TextError: fewer than two different words are left.
    """
    words = words_in(text)
    counts = Counter(words)
    kept = [(word, count) for word, count in counts.most_common() if count >= least]
    if len(kept) < 2:
        raise TextError(_too_few(words, len(counts), least))
    vocabulary = Vocabulary(
        tuple(word for word, _ in kept), np.array([count for _, count in kept], np.int64)
    )
    known = vocabulary.ids
    ids = np.fromiter((known[word] for word in words if word in known), np.int64)
    return CountedText(vocabulary, ids, len(counts) - len(kept))


def _too_few(words: Sequence[str], different: int, least: int) -> str:
    if different < 2:
        return f"expected a text with at least two different words; got {different}"
    return (
        f"fewer than two words occur at least {least} times in this text of {len(words):,} words; "
        "give more text, or a smaller least (--least 1)"
    )
