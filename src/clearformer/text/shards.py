"""Ids in files: what a shard is, and several of them as one row that is never all in memory.

A shard begins with a header of 64 bytes, all numbers little-endian:

    8   "CLEARIDS"
    4   version of this layout
    4   bytes of one id: 1, 2 or 4, the fewest that hold the vocabulary
    8   number of ids
    8   size of the vocabulary
    32  SHA-256 that tells the tokenizer

Then come the ids. All of the header is known from elsewhere, too, so any change of it is noticed.
"""

import struct
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.errors import TextError
from clearformer.text.ids import Ids, id_type
from clearformer.text.ordinary_file import open_ordinary

MAGIC = b"CLEARIDS"
VERSION = 1
_HEADER = struct.Struct("<8sIIQQ32s")
HEADER_BYTES = _HEADER.size

MOST_OPEN = 64
"""Shards that are mapped at once; the system allows a process some hundreds."""

AGAIN = "prepare the text again"


@dataclass(frozen=True)
class Kind:
    """What all shards of a corpus have in common."""

    vocabulary: int
    """Ids are 0 … vocabulary - 1."""

    fingerprint: str
    """Of the tokenizer: SHA-256, 64 hexadecimal digits."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the ids in the file."""
        return id_type(self.vocabulary).newbyteorder("<")

    def header(self, tokens: int) -> bytes:
        """The first 64 bytes of a shard of so many ids."""
        return _HEADER.pack(
            MAGIC,
            VERSION,
            self.dtype.itemsize,
            tokens,
            self.vocabulary,
            bytes.fromhex(self.fingerprint),
        )

    def bytes(self, tokens: int) -> int:
        """Size of the file of a shard of so many ids."""
        return HEADER_BYTES + self.dtype.itemsize * tokens


@dataclass(frozen=True)
class Shard:
    """A file of ids."""

    path: Path
    tokens: int


def require_shard(shard: Shard, kind: Kind) -> None:
    """Looks at size and header of a shard.

    Raises:
        TextError: it is missing or cannot be read, cut off, of a newer version, of another
            tokenizer, or its header is damaged.
    """
    path, size = shard.path, kind.bytes(shard.tokens)
    try:
        with open_ordinary(path) as file:
            header = file.read(HEADER_BYTES)
            found = file.seek(0, 2)
    except FileNotFoundError:
        raise TextError(f"{path} is missing; {AGAIN}") from None
    except OSError as fault:
        raise TextError(f"{path} cannot be read ({fault.strerror})") from None
    if header != kind.header(shard.tokens):
        raise TextError(f"{path} {_what_is_wrong(header, kind, shard.tokens)}")
    if found != size:
        raise TextError(f"{path} is damaged: expected {size:,} bytes, got {found:,}; {AGAIN}")


def _what_is_wrong(header: bytes, kind: Kind, tokens: int) -> str:
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return f"is no shard of ids: expected a header that begins with {MAGIC.decode()}; {AGAIN}"
    _, version, width, count, vocabulary, fingerprint = _HEADER.unpack(header)
    if version > VERSION:
        return f"has format {version}, this clearformer reads up to {VERSION}; upgrade it"
    if fingerprint.hex() != kind.fingerprint:
        return f"is a shard of another tokenizer; {AGAIN}"
    found = (version, width, count, vocabulary)
    wanted = (VERSION, kind.dtype.itemsize, tokens, kind.vocabulary)
    names = ("format", "bytes of an id", "ids", "vocabulary")
    differing = [
        f"{name} {want:,}, got {got:,}"
        for name, want, got in zip(names, wanted, found, strict=True)
        if want != got
    ]
    return f"is damaged: expected {' and '.join(differing)}; {AGAIN}"


class ShardedIds:
    """The ids of shards one after the other, read from the files where they are asked for.

    What was read is kept by the system as long as it has room. Not for several threads at once.
    """

    def __init__(self, shards: Sequence[Shard], kind: Kind) -> None:
        """Size and header of each shard are looked at, not the ids.

        Raises:
            TextError: see `require_shard`.
        """
        for shard in shards:
            require_shard(shard, kind)
        self._shards, self._kind = tuple(shards), kind
        self._ends = list(accumulate(shard.tokens for shard in shards))
        self._mapped: OrderedDict[int, Ids] = OrderedDict()

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, part: slice) -> Ids:
        """The ids of one stretch, in an array of their own."""
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise TextError(f"a stretch of ids has a step of 1; got {step}")
        found = np.empty(max(stop - start, 0), self._kind.dtype)
        self._fill(found, start)
        return found

    def rows(self, starts: Ids, length: int) -> Ids:
        """The stretches (starts, length) that begin at each of `starts`."""
        found = np.empty((len(starts), length), self._kind.dtype)
        for row, start in enumerate(starts.tolist()):
            self._fill(found[row], start)
        return found

    def _fill(self, found: Ids, start: int) -> None:
        filled = 0
        while filled < len(found):
            number = bisect_right(self._ends, start + filled)
            before = self._ends[number] - self._shards[number].tokens
            ids = self._ids(number)[start + filled - before :][: len(found) - filled]
            found[filled : filled + len(ids)] = ids
            filled += len(ids)
            if int(ids.max()) >= self._kind.vocabulary:
                raise TextError(
                    f"{self._shards[number].path} is damaged: it holds id {ids.max()}, the "
                    f"vocabulary has {self._kind.vocabulary:,}; {AGAIN}"
                )

    def _ids(self, number: int) -> Ids:
        """The ids of one shard, mapped; of many shards those used last stay so."""
        if number not in self._mapped:
            shard = self._shards[number]
            try:
                mapped = np.memmap(
                    shard.path, self._kind.dtype, "r", HEADER_BYTES, shape=(shard.tokens,)
                )
            except (OSError, ValueError) as fault:
                raise TextError(f"{shard.path} cannot be read ({fault}); {AGAIN}") from None
            self._mapped[number] = mapped.view(np.ndarray)
            if len(self._mapped) > MOST_OPEN:
                self._mapped.popitem(last=False)
        self._mapped.move_to_end(number)
        return self._mapped[number]
