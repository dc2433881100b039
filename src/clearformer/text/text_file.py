"""A file of text, strictly decoded piece by piece, from the start or from any place in it."""

import codecs
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from pathlib import Path

from clearformer.errors import TextError
from clearformer.text import refusals
from clearformer.text.encoding_guess import marked_encoding
from clearformer.text.file_encoding import MARK, UTF_8, WITH_MARK, codec_called, plain_codec

PIECE = 1 << 20
"""Bytes read at a time."""


@dataclass(frozen=True)
class Place:
    """Where in a file decoding can begin again."""

    offset: int = 0
    """Bytes before it."""

    after_return: bool = False
    """Whether a carriage return waits for the character after it."""


class TextFile:
    r"""Reads one file: iterating gives its text in pieces, with "\n" for "\r\n".

    A byte order mark is dropped. All that is wrong with a file is one `TextError`; as it can be
    wrong at its end, pieces may have been given before.

    Attributes:
        name: the path, to be shown.
        place: where the text after the last piece begins; None where decoding cannot begin there,
            as in the middle of a shift of ISO-2022-JP.
        notes: after the last piece: what was changed on the way, one line each.
    """

    def __init__(
        self,
        path: Path,
        codec: codecs.CodecInfo,
        *,
        start: Place | None = None,
        piece: int = PIECE,
        hear: Callable[[bytes], object] | None = None,
    ) -> None:
        """Nothing is opened before the first piece is asked for.

        Args:
            path: of the file; a pipe is read whole.
            codec: how bytes are text.
            start: where to begin, a `place` of an earlier reading; None for the beginning.
            piece: bytes to read at a time.
            hear: is given all bytes that are read.
        """
        self.name = refusals.shown(path)
        self.place: Place | None = start or Place()
        self.notes: list[str] = []
        self._path, self._codec, self._piece = path, codec, piece
        self._hear = hear or (lambda raw: None)
        self._fed = start.offset if start else 0
        self._held = start is not None and start.after_return
        self._begins = start is None
        self._holds_text = start is not None
        self._characters = 0
        self._null = -1
        self._windows = self._returns = 0

    def __iter__(self) -> Iterator[str]:
        try:
            with _opened(self._path, self.name) as file:
                yield from self._texts(file)
        except OSError as fault:
            raise refusals.unreadable(self.name, fault.strerror or str(fault)) from None

    def _texts(self, file: BufferedIOBase) -> Iterator[str]:
        decoder = self._decoder(file)
        clean = decoder.getstate()[1]
        file.seek(self._fed)
        raw = b"first"
        while raw:
            raw = file.read(self._piece)
            self._hear(raw)
            text = self._with_newlines(self._checked(self._decoded(file, decoder, raw)), not raw)
            self._fed += len(raw)
            pending, state = decoder.getstate()
            here = Place(self._fed - len(pending), self._held)
            self.place = here if state == clean else None
            if text and self._null < 0:
                yield text
        self._finish()

    def _decoder(self, file: BufferedIOBase) -> codecs.IncrementalDecoder:
        """Looks at the first bytes; a mark there is skipped, and says which byte comes first."""
        codec = self._codec.name
        head = file.read(4)
        if not head:
            raise TextError(f"{self.name} is empty; give a file with text in it")
        marked, mark = marked_encoding(head) or (codec, b"")
        if not codec.startswith(marked):
            raise refusals.other_mark(self.name, codec, marked)
        decoder = codecs.getincrementaldecoder(plain_codec(codec, mark))()
        if self._begins:
            wide = codec.startswith(("utf-16", "utf-32"))
            refusal = refusals.plain_as_wide(file, self.name, codec) if wide else None
            if refusal:
                raise refusal
            if mark and codec in WITH_MARK:
                self._hear(mark)
                self._note_mark()
                self._fed = len(mark)
        return decoder

    def _decoded(self, file: BufferedIOBase, decoder: codecs.IncrementalDecoder, raw: bytes) -> str:
        codec, fed = self._codec.name, self._fed
        zero = raw.find(0) if codec in UTF_8 else -1
        if zero >= 0:
            raise refusals.zero_byte(file, self.name, fed + zero)
        try:
            return decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as fault:
            place = fed + len(raw) - len(fault.object) + fault.start
        except UnicodeError as fault:  # a codec that does not say where
            raise TextError(f"{self.name} is not {codec}: {fault}") from None
        raise refusals.bad_byte(file, self.name, codec, place)

    def _checked(self, text: str) -> str:
        """Takes a mark away, and looks for what shows that this is no text."""
        if self._begins and text:
            self._begins = False
            if text.startswith(MARK):
                self._note_mark()
                text = text[1:]
        self._holds_text = self._holds_text or not (text.isspace() or not text)
        if self._null < 0 and "\0" in text:
            self._null = self._characters + text.index("\0")
        self._characters += len(text)
        return text

    def _with_newlines(self, text: str, ended: bool) -> str:
        """With a newline for each pair; a carriage return at the end is held back for the next."""
        if self._held:
            text = "\r" + text
        self._held = text.endswith("\r") and not ended
        if self._held:
            text = text[:-1]
        windows = text.count("\r\n")
        self._windows += windows
        self._returns += text.count("\r") - windows
        return text.replace("\r\n", "\n") if windows else text

    def _note_mark(self) -> None:
        if not self.notes:
            self.notes.append("a byte order mark at the start was dropped")

    def _finish(self) -> None:
        if not self._holds_text:
            raise refusals.blank(self.name)
        if self._null >= 0:
            raise refusals.null_character(self.name, self._codec.name, self._null)
        if self._windows:
            self.notes.append(f"{self._windows:,} Windows line ends (CR LF) became newlines")
        if self._returns:
            self.notes.append(f"{self._returns:,} single carriage returns (CR) were kept")


def _opened(path: Path, name: str) -> BufferedIOBase:
    """The file, which can be gone through again; a pipe is read into memory for that."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TextError(
                f"{name} is a folder, expected text files; give its files, such as {name}/*.txt, "
                "or, to train on, a folder that clearformer prepare has made"
            )
        if stat.S_ISFIFO(mode):
            return BytesIO(path.read_bytes())
        if not stat.S_ISREG(mode):
            raise TextError(f"{name} is a device, expected a text file")
        return path.open("rb")
    except FileNotFoundError:
        raise TextError(f"{name} does not exist; give the path of a text file") from None
    except ValueError as fault:
        if isinstance(fault, TextError):
            raise
        raise refusals.unreadable(name, str(fault)) from None
    except MemoryError:
        raise refusals.unreadable(name, "it does not fit into memory") from None


def require_files(paths: Sequence[Path], encoding: str) -> None:
    """Refuses what the beginning of each file shows to be no text, and what can be read but once.

    Raises:
        TextError: naming the first such file.
        ConfigurationError: there is no encoding of that name.
    """
    codec = codec_called(encoding)
    for path in paths:
        if _is_pipe(path):
            raise TextError(
                f"{refusals.shown(path)} is a pipe, expected a file, which can be read again; "
                "write the text to one first"
            )
        next(iter(TextFile(path, codec)), None)


def _is_pipe(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return stat.S_ISFIFO(path.stat().st_mode)
    return False
