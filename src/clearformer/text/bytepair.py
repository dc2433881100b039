"""Byte pair encoding (Sennrich et al. 2016, arXiv 1508.07909) over the bytes of UTF-8."""

import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.exact_json import canonical_json
from clearformer.text.ids import Ids, checked_id, checked_ids, id_type
from clearformer.text.pieces import LONGEST_PIECE, PIECE
from clearformer.text.scripts import LONE_SURROGATE

BYTES = 256
"""The vocabulary begins with every byte, so that no text is unknown."""

DEFAULT_VOCABULARY = 2048
LARGEST_VOCABULARY = 1_000_000

REMEMBERED = 1 << 16
"""Pieces whose ids are kept; a text of a few megabytes has fewer distinct ones."""

DECODED = 1 << 16
"""Ids turned into bytes at a time; as Python's own numbers they take 32 bytes each."""

SEEN_TWICE = 2
"""A pair that occurs only once is not worth a token."""


class BytePairs:
    """Ids 0 to 255 are the bytes; each merge of two earlier ids adds the next one.

    Two merges that spell the same bytes share an id, so there may be more merges than ids.
    There are no control tokens: whatever a person types, "<|endoftext|>" included, is text.
    Lone surrogates, which UTF-8 cannot hold, become U+FFFD and are listed by `unknown`.
    """

    kind = "bytepair"
    control_ids: tuple[int, ...] = ()

    def __init__(self, merges: Sequence[tuple[int, int]]) -> None:
        """`merges` in the order in which they were learned.

        Raises:
            TokenizerError: a merge of ids that do not exist yet, one given twice, or a token
                longer than any piece (which a damaged or hostile file could make huge).
        """
        self._merges = tuple((int(left), int(right)) for left, right in merges)
        self._tokens = [bytes([byte]) for byte in range(BYTES)]
        known = {token: id for id, token in enumerate(self._tokens)}
        for number, (left, right) in enumerate(self._merges):
            if not (0 <= left < len(self._tokens) and 0 <= right < len(self._tokens)):
                raise TokenizerError(f"merge {number} joins {left} and {right}, not both known yet")
            token = self._tokens[left] + self._tokens[right]
            if len(token) > LONGEST_PIECE:
                raise TokenizerError(f"merge {number} makes a token over {LONGEST_PIECE} bytes")
            if token not in known:
                known[token] = len(self._tokens)
                self._tokens.append(token)
        if len(set(self._merges)) != len(self._merges):
            raise TokenizerError("a merge occurs twice")
        self._remembered: dict[str, array[int]] = {}

    @classmethod
    def of(cls, text: str, vocabulary: int | None = None) -> "BytePairs":
        """Learns merges from `text` until the vocabulary is full or no pair occurs twice.

        Memory grows with the number of distinct pieces, not with the text.

        Raises:
            ConfigurationError: a vocabulary below 256 or above a million.
        """
        wanted = DEFAULT_VOCABULARY if vocabulary is None else vocabulary
        if not BYTES <= wanted <= LARGEST_VOCABULARY:
            raise ConfigurationError(
                f"a byte pair vocabulary has {BYTES} to {LARGEST_VOCABULARY:,} entries "
                f"(the first {BYTES} are the bytes); got {wanted}"
            )
        return cls(_learned_merges(text, wanted))

    @property
    def vocabulary_size(self) -> int:
        """Number of ids."""
        return len(self._tokens)

    def encode(self, text: str) -> Ids:
        """Ids of `text`; piece by piece, so that memory is that of the result."""
        encoded = array("I")
        for piece in _pieces(text):
            encoded.extend(self._remembered.get(piece) or self._merged(piece))
        return np.frombuffer(encoded, np.uintc).astype(id_type(self.vocabulary_size))

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

    @cached_property
    def _model(self) -> Any:
        """The `tokenizers` library's merging; a byte is written as the character of its number."""
        from tokenizers.models import BPE

        spelled = [token.decode("latin-1") for token in self._tokens]
        return BPE(
            vocab={token: id for id, token in enumerate(spelled)},
            merges=[(spelled[left], spelled[right]) for left, right in self._merges],
        )

    def _merged(self, piece: str) -> "array[int]":
        spelled = piece.encode("utf-8").decode("latin-1")
        ids = array("I", [token.id for token in self._model.tokenize(spelled)])
        if len(self._remembered) >= REMEMBERED:
            self._remembered.clear()
        self._remembered[piece] = ids
        return ids


def _pieces(text: str) -> Iterator[str]:
    if LONE_SURROGATE.search(text):
        text = LONE_SURROGATE.sub("\ufffd", text)
    return (match[0] for match in PIECE.finditer(text))


def _learned_merges(text: str, vocabulary: int) -> list[tuple[int, int]]:
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.trainers import BpeTrainer

    learner = Tokenizer(BPE())
    trainer = BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=SEEN_TWICE,
        initial_alphabet=[chr(byte) for byte in range(BYTES)],
        special_tokens=[],
        show_progress=False,
    )
    spelled = (piece.encode("utf-8").decode("latin-1") for piece in _pieces(text))
    learner.train_from_iterator(spelled, trainer)
    ids = learner.get_vocab(with_added_tokens=False)
    merges = json.loads(learner.to_str())["model"]["merges"]
    return [(ids[left], ids[right]) for left, right in merges]
