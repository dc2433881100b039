"""Words and their vectors: what is near a word, what completes an analogy, a map of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.tensor import Float
from clearformer.words.options import WordOptions
from clearformer.words.vocabulary import Vocabulary

Near = list[tuple[str, float]]
"""Words with their cosine, the most similar first."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """What `word_vectors` gives."""

    vocabulary: Vocabulary
    vectors: Float[np.ndarray, "vocab embed"]
    """One row for each word, the most frequent first."""
    options: WordOptions
    loss: float
    """Of the last time through the text: nats for a pair with its words of noise."""

    def __repr__(self) -> str:
        return f"WordVectors({len(self.vocabulary):,} words, {self.vectors.shape[1]} numbers each)"

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __contains__(self, word: str) -> bool:
        return word in self.vocabulary.ids

    def __getitem__(self, word: str) -> Float[np.ndarray, " embed"]:
        return self.vectors[self.vocabulary.id_of(word)]

    @property
    def words(self) -> tuple[str, ...]:
        """All words, the most frequent first."""
        return self.vocabulary.words

    def near(self, word: str, count: int = 10) -> Near:
        """The words whose vectors point most nearly the same way, with the cosine between them.

        Raises:
            ConfigurationError: the word has no vector; with words that are spelled alike.
        """
        id = self.vocabulary.id_of(word)
        return self._nearest(self._directions[id], {id}, count)

    def analogy(self, first: str, second: str, third: str, count: int = 10) -> Near:
        """What is to `third` as `second` is to `first`: near second - first + third.

        The three themselves are left out. (Mikolov, Yih and Zweig, "Linguistic Regularities in
        Continuous Space Word Representations", 2013, section 5.)

        Raises:
            ConfigurationError: a word has no vector.
        """
        ids = [self.vocabulary.id_of(word) for word in (first, second, third)]
        a, b, c = self._directions[ids]
        return self._nearest(_direction(b - a + c), set(ids), count)

    def map(self, words: Sequence[str] | None = None) -> Float[np.ndarray, "words two"]:
        """Two coordinates for each word (all unless given): the plane that shows the most.

        The two principal axes of the directions (Pearson, 1901), by singular values; the largest
        entry of each axis is positive, so that the same vectors always give the same map.

        Raises:
            ConfigurationError: there are fewer than two words, or one has no vector.
        """
        chosen = self.words if words is None else words
        if len(chosen) < 2:
            raise ConfigurationError(f"a map needs at least two words; got {len(chosen)}")
        rows = self._directions[[self.vocabulary.id_of(word) for word in chosen]]
        rows = rows.astype(np.float64) - rows.mean(0, dtype=np.float64)
        axes = np.linalg.svd(rows, full_matrices=False)[2][:2]
        largest = np.abs(axes).argmax(1)
        return np.asarray(rows @ (axes * np.sign(axes[[0, 1], largest])[:, None]).T)

    def picture(self, path: str | Path, words: int | Sequence[str] = 150) -> None:
        """Writes the map as a picture (SVG) that any browser shows.

        Args:
            path: of the file; one that is there is replaced.
            words: which, or how many of the most frequent.

        Raises:
            ConfigurationError: a word has no vector, or there are too few.
            RunError: the file cannot be written.
        """
        from clearformer.words.picture import write_picture

        write_picture(self, Path(path), self.words[:words] if isinstance(words, int) else words)

    def save(self, path: str | Path) -> None:
        """Writes a new folder, which `load` reads.

        Raises:
            RunError: there is something of that name, or it cannot be written.
        """
        from clearformer.words.files import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> "WordVectors":
        """Reads what `save` has written.

        Raises:
            RunError: it is not there, or damaged.
        """
        from clearformer.words.files import load

        return load(Path(path))

    @cached_property
    def _directions(self) -> Float[np.ndarray, "vocab embed"]:
        """The vectors, each of length one."""
        return _direction(self.vectors)

    def _nearest(self, direction: Float[np.ndarray, " embed"], out: set[int], count: int) -> Near:
        if type(count) is not int or count < 1:
            raise ConfigurationError(
                f"count must be a whole number of at least 1; got {count!r:.40}"
            )
        cosines = self._directions @ direction
        order = np.argsort(-cosines, kind="stable")[: count + len(out)]
        found = [int(id) for id in order if int(id) not in out][:count]
        return [(self.words[id], float(cosines[id])) for id in found]


def _direction(x: Float[np.ndarray, "*lead embed"]) -> Float[np.ndarray, "*lead embed"]:
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(length == 0, 1, length))
