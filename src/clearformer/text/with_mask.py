r"""A tokenizer that also reads `<mask>`: one id more, for a token that is to be guessed."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from clearformer.text.ids import Ids, checked_ids, id_type
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.word_runs import letters

MASK = "<mask>"

_MARKS = re.compile(rf"(\\?){MASK}")


class WithMask:
    r"""The ids of a tokenizer, and behind them that of the mask.

    A mask stands for one token. `\<mask>` is the text `<mask>` itself. What stands beside a mask is
    cut into tokens as if there were a token in its place: with words, a single space between a word
    and a mask is implied; with byte pairs, a space before a mask belongs to the token that it
    stands for, as it would to a word.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.kind = tokenizer.kind
        self.control_ids = tokenizer.control_ids
        self.mask = tokenizer.vocabulary_size
        """The id of the mask."""

    @property
    def vocabulary_size(self) -> int:
        """Ids are 0 … vocabulary_size - 1; the last is that of the mask."""
        return self.mask + 1

    @property
    def fingerprint(self) -> str:
        """That of the tokenizer."""
        return self.tokenizer.fingerprint

    def encode(self, text: str) -> Ids:
        """Ids of `text`, with the mask where `<mask>` is written."""
        parts: list[Ids] = []
        for number, piece in enumerate(self._pieces(text)):
            if number:
                parts.append(np.array([self.mask], id_type(self.vocabulary_size)))
            parts.append(self.tokenizer.encode(piece))
        return np.concatenate(parts).astype(id_type(self.vocabulary_size))

    def unknown(self, text: str) -> dict[str, int]:
        """Each piece of `text` that the vocabulary lacks with its count; masks are known."""
        counts: Counter[str] = Counter()
        for piece in self._pieces(text):
            counts.update(self.tokenizer.unknown(piece))
        return dict(counts)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """The text of `ids`, with `<mask>` for the mask.

        Raises:
            TokenizerError: an id out of range.
        """
        known = checked_ids(ids, self.vocabulary_size).tolist()
        if self.mask not in known:
            return self.tokenizer.decode(known)
        raw, before = bytearray(), None
        for id in known:
            if before is not None:
                raw += self.joint(before, id).encode("utf-8")
            raw += self.token_bytes(id)
            before = id
        return raw.decode("utf-8", "replace")

    def filled(self, text: str, ids: Iterable[int]) -> str:
        """`text` with a token in the place of each mask, one after another; the rest as written.

        Also what the vocabulary lacks stays as it was written. Where a space stood before a mask
        and the byte pair in its place begins with none, the space stays.
        """
        raw, before, tokens, written = bytearray(), None, iter(ids), ""
        whole = pieces_between_masks(text)

        def put(spelled: bytes, first: int, last: int) -> None:
            nonlocal before, raw
            raw += b"" if before is None else self.joint(before, first).encode("utf-8")
            raw += spelled
            before = last

        for number, piece in enumerate(self._pieces(text)):
            if number:
                id = next(tokens)
                token = self.token_bytes(id)
                gone = self.kind == "bytepair" and written.endswith(" ")
                put(b" " * (gone and not token.startswith(b" ")) + token, id, id)
            written = whole[number]
            known = self.tokenizer.encode(piece).tolist()
            spelled = piece.encode("utf-8", "surrogatepass")
            if known:
                put(spelled, known[0], known[-1])
            else:
                raw += spelled
        return raw.decode("utf-8", "replace")

    def token_text(self, id: int) -> str:
        """What a person is shown for one token."""
        return MASK if id == self.mask else self.tokenizer.token_text(id)

    def token_bytes(self, id: int) -> bytes:
        """The bytes of UTF-8 that one token contributes."""
        return MASK.encode("utf-8") if id == self.mask else self.tokenizer.token_bytes(id)

    def joint(self, previous: int, following: int) -> str:
        """The text that is implied between two tokens; a mask is like an unknown word."""
        like = max(self.control_ids, default=0)
        last, next = (like if id == self.mask else id for id in (previous, following))
        return self.tokenizer.joint(last, next)

    def to_json(self) -> dict[str, object]:
        """That of the tokenizer."""
        return self.tokenizer.to_json()

    def _pieces(self, text: str) -> list[str]:
        """What stands before, between and after the masks, but for what belongs to a mask."""
        pieces, beside = pieces_between_masks(text), _BESIDE[self.kind]
        last = len(pieces) - 1
        return [beside(piece, n > 0, n < last) for n, piece in enumerate(pieces)]


def pieces_between_masks(text: str) -> list[str]:
    r"""The text before, between and after the masks in it; one piece if there is none.

    >>> pieces_between_masks(r"a <mask>, written \<mask>")
    ['a ', ', written <mask>']
    """
    pieces, start, written = [], 0, ""
    for found in _MARKS.finditer(text):
        written += text[start : found.start()]
        start = found.end()
        if found[1]:
            written += MASK
        else:
            pieces.append(written)
            written = ""
    return [*pieces, written + text[start:]]


def _as_it_is(piece: str, before: bool, after: bool) -> str:
    return piece


def _beside_words(piece: str, before: bool, after: bool) -> str:
    """Without the spaces that are implied between a spaced word and a mask before or after it."""
    if before and after and piece == " ":
        return ""
    if before:
        piece = re.sub(f"^ (?=[{letters()}])", "", piece)
    return re.sub(rf"(?<=[{letters()}]) \Z", "", piece) if after else piece


def _beside_byte_pairs(piece: str, before: bool, after: bool) -> str:
    """Without the space that the token in the place of the mask begins with."""
    return piece.removesuffix(" ") if after else piece


_BESIDE = {
    "characters": _as_it_is,
    "words": _beside_words,
    "bytepair": _beside_byte_pairs,
}
