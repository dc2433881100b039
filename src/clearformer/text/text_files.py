"""One or several files as one text, piece by piece, from the start or from a landmark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.errors import TextError
from clearformer.text import refusals
from clearformer.text.file_encoding import codec_called
from clearformer.text.text_file import PIECE, Place, TextFile

FIELDS = {"file", "offset", "after_return", "characters", "newline"}
"""Names in the JSON of a landmark."""


@dataclass(frozen=True)
class Landmark:
    """Where in a text made of files reading can begin again."""

    file: int = 0
    """Number of the file, from 0."""

    place: Place = field(default_factory=Place)
    """Where in it."""

    characters: int = 0
    """Of the text before it."""

    newline: bool = True
    """Whether that text ends with a newline (or is empty)."""

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        place = self.place
        return {
            "file": self.file,
            "offset": place.offset,
            "after_return": place.after_return,
            "characters": self.characters,
            "newline": self.newline,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Landmark":
        """The opposite of `to_json`. Raises ValueError for anything else."""
        after_return, newline = fields.get("after_return"), fields.get("newline")
        if set(fields) != FIELDS or type(after_return) is not bool or type(newline) is not bool:
            raise ValueError("expected the fields of a landmark")
        file, offset, characters = (
            _whole(fields[name]) for name in ("file", "offset", "characters")
        )
        return cls(file, Place(offset, after_return), characters, newline)


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a whole number")
    return value


class TextFiles:
    """One reading of some files as one text: iterating gives it in pieces.

    Where a file does not end its last line, a newline is put before the next one. The text is
    that of `read_corpus`, however it is cut in pieces and wherever reading began.

    Attributes:
        names: of the files, to be shown.
        characters: of the text so far.
        landmark: where the text after the last piece begins; None where reading cannot begin there.
        notes: what was changed, told when a file has been read to its end.
    """

    def __init__(
        self,
        paths: str | Path | Sequence[str | Path],
        encoding: str = "utf-8",
        *,
        start: Landmark | None = None,
        piece: int = PIECE,
        hear: Callable[[int, bytes], object] | None = None,
    ) -> None:
        """Nothing is opened before the first piece is asked for.

        Args:
            paths: of the files, in order.
            encoding: of all of them.
            start: where to begin, a `landmark` of an earlier reading; None for the beginning.
            piece: bytes to read at a time.
            hear: is given the number of a file and bytes of it, all of them in order.

        Raises:
            TextError: there is no path.
            ConfigurationError: there is no encoding of that name.
        """
        self._codec = codec_called(encoding)
        self._paths = [Path(paths)] if isinstance(paths, str | Path) else [*map(Path, paths)]
        if not self._paths:
            raise TextError("expected at least one text file; got none")
        self.names = tuple(refusals.shown(path) for path in self._paths)
        self._start = start or Landmark()
        self.landmark: Landmark | None = self._start
        self.characters = self._start.characters
        self._newline = self._start.newline
        self.notes: list[str] = []
        self._piece, self._hear = piece, hear

    def __iter__(self) -> Iterator[str]:
        for number in range(self._start.file, len(self._paths)):
            file = self._file(number)
            if not self._newline and file.place == Place():
                yield self._passed("\n", number, Place())
            for text in file:
                yield self._passed(text, number, file.place)
            self.notes += [f"{self.names[number]}: {note}" for note in file.notes]

    def _passed(self, text: str, number: int, place: Place | None) -> str:
        """Notes where the text after this piece begins."""
        self.characters += len(text)
        self._newline = text.endswith("\n")
        self.landmark = Landmark(number, place, self.characters, self._newline) if place else None
        return text

    def _file(self, number: int) -> TextFile:
        def hear(raw: bytes) -> None:
            if self._hear:
                self._hear(number, raw)

        start = self._start.place if number == self._start.file else Place()
        return TextFile(
            self._paths[number],
            self._codec,
            start=None if start == Place() else start,
            piece=self._piece,
            hear=hear,
        )
