"""Byte pair encoding (Sennrich et al. 2016, arXiv 1508.07909) over the bytes of UTF-8."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.bytepair_encoding import AT_ONCE, LONG, Encoder
from clearformer.text.bytepair_learning import BYTES, MOST_PIECES, learned_merges
from clearformer.text.counts import Counts, most_frequent
from clearformer.text.cuts import Cuts, blocks, sliced
from clearformer.text.exact_json import canonical_json
from clearformer.text.ids import Ids, checked_id, checked_ids
from clearformer.text.piece_table import PieceTable
from clearformer.text.pieces import CUTS, LONGEST_PIECE, PIECE
from clearformer.text.scripts import LONE_SURROGATE

DEFAULT_VOCABULARY = 2048
LARGEST_VOCABULARY = 1_000_000

DECODED = 1 << 16
"""Ids turned into bytes at a time; as Python's own numbers they take 32 bytes each."""


class BytePairs:
    """Ids 0 to 255 are the bytes; each merge of two earlier ids adds the next one.

    Two merges that spell the same bytes share an id, so there may be more merges than ids.
    There are no control tokens: whatever a person types, "<|endoftext|>" included, is text.
    Lone surrogates, which UTF-8 cannot hold, become U+FFFD and are listed by `unknown`.
    """

    kind = "bytepair"
    control_ids: tuple[int, ...] = ()
    most_pieces = MOST_PIECES

    def __init__(self, merges: Sequence[tuple[int, int]]) -> None:
        """`merges` in the order in which they were learned.

        Raises:
            TokenizerError: a merge of ids that do not exist yet, one given twice, or a token
                longer than any piece (which a damaged or hostile file could make huge).
        """
        self._merges = tuple((int(left), int(right)) for left, right in merges)
        self._tokens = [bytes([byte]) for byte in range(BYTES)]
        known = {token: id for id, token in enumerate(self._tokens)}
        made: list[int] = []
        for number, (left, right) in enumerate(self._merges):
            if not (0 <= left < len(self._tokens) and 0 <= right < len(self._tokens)):
                raise TokenizerError(f"merge {number} joins {left} and {right}, not both known yet")
            token = self._tokens[left] + self._tokens[right]
            if len(token) > LONGEST_PIECE:
                raise TokenizerError(f"merge {number} makes a token over {LONGEST_PIECE} bytes")
            if token not in known:
                known[token] = len(self._tokens)
                self._tokens.append(token)
            made.append(known[token])
        if len(set(self._merges)) != len(self._merges):
            raise TokenizerError("a merge occurs twice")
        self._encoder = Encoder(self._merges, made, self._tokens)

    @classmethod
    def of(cls, text: str, vocabulary: int | None = None) -> "BytePairs":
        """Learns merges from `text` until the vocabulary is full or no pair occurs twice.

        Memory grows with the number of distinct pieces, up to `MOST_PIECES`, not with the text.

        Raises:
            ConfigurationError: a vocabulary below 256 or above a million.
        """
        cls.check_vocabulary(vocabulary)
        counts = Counts(cls.most_pieces)
        for block in blocks(sliced(_without_surrogates(text)), cls.cuts()):
            counts.add(cls.count(block))
        return cls.from_counts(counts, vocabulary)

    @staticmethod
    def cuts() -> Cuts:
        """Between two pieces, where that shows from the characters there alone."""
        return CUTS

    @staticmethod
    def check_vocabulary(vocabulary: int | None) -> None:
        """Raises ConfigurationError for a vocabulary below 256 or above a million."""
        if vocabulary is not None and not BYTES <= vocabulary <= LARGEST_VOCABULARY:
            raise ConfigurationError(
                f"a byte pair vocabulary has {BYTES} to {LARGEST_VOCABULARY:,} entries "
                f"(the first {BYTES} are the bytes); got {vocabulary}"
            )

    @staticmethod
    def count(block: str) -> dict[str, int]:
        """How often each piece occurs in a block of a text free of lone surrogates."""
        if len(block) < LONG:
            return Counter(PIECE.findall(block))
        counts: Counter[str] = Counter()
        for part in blocks(sliced(block, AT_ONCE), CUTS, AT_ONCE):
            counts.update(PieceTable.of(part).counts(part))
        return counts

    @classmethod
    def from_counts(cls, counts: Counts, vocabulary: int | None = None) -> "BytePairs":
        """Learns merges from what the blocks of a text hold.

        Raises:
            ConfigurationError: a vocabulary below 256 or above a million.
        """
        cls.check_vocabulary(vocabulary)
        wanted = DEFAULT_VOCABULARY if vocabulary is None else vocabulary
        return cls(learned_merges(most_frequent(counts.table, cls.most_pieces), wanted))

    @property
    def vocabulary_size(self) -> int:
        """Number of ids."""
        return len(self._tokens)

    def encode(self, text: str) -> Ids:
        """Ids of `text`; a long one block by block, so that memory is that of the result."""
        return self._encoder(_without_surrogates(text))

    def unknown(self, text: str) -> dict[str, int]:
        """Lone surrogates only; every other text is known."""
        counts: dict[str, int] = {}
        for match in LONE_SURROGATE.finditer(text):
            counts[match[0]] = counts.get(match[0], 0) + 1
        return counts

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """The text of `ids`; bytes that form no character become U+FFFD.

        Raises:
            TokenizerError: an id out of range.
        """
        known = checked_ids(ids, self.vocabulary_size)
        raw = bytearray()
        for start in range(0, known.size, DECODED):
            raw += b"".join([self._tokens[id] for id in known[start : start + DECODED].tolist()])
        return raw.decode("utf-8", "replace")

    def token_text(self, id: int) -> str:
        """The characters of one token; bytes of an incomplete character as `<0xE3>`."""
        rest = self.token_bytes(id)
        shown = ""
        while rest:
            try:
                return shown + rest.decode("utf-8")
            except UnicodeDecodeError as fault:
                broken = rest[fault.start : fault.end]
                shown += rest[: fault.start].decode("utf-8")
                shown += "".join(f"<0x{byte:02X}>" for byte in broken)
                rest = rest[fault.end :]
        return shown

    def token_bytes(self, id: int) -> bytes:
        """The bytes that token `id` stands for."""
        return self._tokens[checked_id(id, self.vocabulary_size)]

    def joint(self, previous: int, following: int) -> str:
        """Nothing stands between two byte pairs."""
        return ""

    def to_json(self) -> dict[str, object]:
        """The merges; they determine every token."""
        return {"merges": [list(pair) for pair in self._merges]}

    @classmethod
    def from_json(cls, fields: dict[str, object]) -> "BytePairs":
        """The opposite of `to_json`. Raises TokenizerError for anything else."""
        merges = fields.get("merges")
        if set(fields) != {"merges"} or not isinstance(merges, list):
            raise TokenizerError('expected one field, "merges", that holds a list')
        if len(merges) > LARGEST_VOCABULARY:
            raise TokenizerError(f"expected at most {LARGEST_VOCABULARY:,} merges")
        for number, pair in enumerate(merges):
            if not (isinstance(pair, list) and [type(id) for id in pair] == [int, int]):
                raise TokenizerError(f"merge {number} must be two whole numbers")
        return cls([(left, right) for left, right in merges])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of kind and merges."""
        return hashlib.sha256(canonical_json({"kind": self.kind, **self.to_json()})).hexdigest()


def _without_surrogates(text: str) -> str:
    if text.isascii() or not LONE_SURROGATE.search(text):
        return text
    return LONE_SURROGATE.sub("\ufffd", text)
