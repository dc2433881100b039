"""The first reading of a text: what is in it, and where reading can begin again."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.corpora.crew import Crew, Tell
from clearformer.corpora.plan import Source
from clearformer.corpora.sizes import Sizes
from clearformer.text.counts import Counts
from clearformer.text.cuts import blocks
from clearformer.text.fingerprint import Fingerprint
from clearformer.text.text_files import Landmark, TextFiles
from clearformer.text.tokenizer import tokenizer_class


@dataclass(frozen=True)
class Survey:
    """What the first reading of a text has found."""

    sources: tuple[Source, ...]
    characters: int
    text: str
    """SHA-256 of the text in UTF-8."""

    notes: tuple[str, ...]
    landmarks: tuple[Landmark, ...]
    counts: Counts
    """What a tokenizer is made from."""


class _Reading:
    """Looks over the shoulder of one reading."""

    def __init__(self, paths: Sequence[Path], encoding: str, sizes: Sizes, tell: Tell) -> None:
        self.files = TextFiles(paths, encoding, piece=sizes.piece, hear=self._hear)
        self.digests = [hashlib.sha256() for _ in paths]
        self.bytes = [0 for _ in paths]
        self.fingerprint = Fingerprint()
        self.landmarks = [Landmark()]
        self._apart, self._passed, self._tell = sizes.landmark, 0, tell

    def __iter__(self) -> Iterator[str]:
        for text in self.files:
            self.fingerprint.add(text)
            if self._passed >= self._apart and self.files.landmark:
                self._passed = 0
                self.landmarks.append(self.files.landmark)
            yield text

    def _hear(self, number: int, raw: bytes) -> None:
        self.digests[number].update(raw)
        self.bytes[number] += len(raw)
        self._passed += len(raw)
        self._tell(len(raw))


def survey(
    paths: Sequence[Path], encoding: str, kind: str, crew: Crew, sizes: Sizes, tell: Tell
) -> Survey:
    """Reads all of a text once; the crew counts what is in it.

    Args:
        paths: the files.
        encoding: of them.
        kind: of the tokenizer that is to be made.
        crew: counts the blocks.
        sizes: of pieces and blocks.
        tell: hears how many bytes were read.

    Raises:
        TextError: it cannot be read, or is no text.
    """
    made = tokenizer_class(kind)
    counts = Counts(made.most_pieces)
    reading = _Reading(paths, encoding, sizes, tell)
    parts = ((kind, block) for block in blocks(reading, made.cuts(), sizes.block))
    for found in crew.results(_counted, parts):
        counts.add(found)
    sources = tuple(
        Source(name, size, digest.hexdigest())
        for name, size, digest in zip(
            reading.files.names, reading.bytes, reading.digests, strict=True
        )
    )
    return Survey(
        sources=sources,
        characters=reading.files.characters,
        text=str(reading.fingerprint),
        notes=tuple(reading.files.notes),
        landmarks=tuple(reading.landmarks),
        counts=counts,
    )


def _counted(job: tuple[str, str], tell: Tell) -> dict[str, int]:
    kind, block = job
    return tokenizer_class(kind).count(block)
