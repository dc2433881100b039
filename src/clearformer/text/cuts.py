"""Where a text may be cut so that its parts, encoded one by one, give the ids of the whole."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from clearformer.errors import TextError

BLOCK = 1 << 20
"""Characters in a block; of tokenizers that count, the counts depend on it (see `counts`)."""

LONGEST_RUN = 1 << 26
"""Characters without a place to cut that are put up with; they are in memory at once."""


LONGEST_STEP = 64
"""Characters in which a tokenizer that can be cut in every run has at least one place."""


@dataclass(frozen=True)
class Cuts:
    """Where a kind of tokenizer always cuts, whatever the rest of the text is."""

    always: re.Pattern[str] | None
    """Matches at every such place. What it spans belongs to neither part: a space that the
    tokenizer implies. It looks at one character behind and at most two ahead. None: everywhere."""

    otherwise: Callable[[str, int], int] | None = None
    """The last place at or before a position where a block may end that begins with this text,
    for tokenizers that have one in every run. It depends on where the block began."""

    def after(self, text: str, position: int) -> tuple[int, int] | None:
        """The first place at or after `position`: the end of one part, the start of the next."""
        if self.always is None:
            return (position, position) if position <= len(text) else None
        found = self.always.search(text, position)
        return found.span() if found else None


def blocks(pieces: Iterable[str], cuts: Cuts, size: int = BLOCK) -> Iterator[str]:
    """The text of `pieces` in blocks of about `size` characters that can be encoded apart.

    A block ends at the first place at or after `size` where the tokenizer always cuts. Where
    there is none before about twice the size, it ends at the last place before that. So the
    blocks depend on the text alone, not on how it was cut in pieces.

    Raises:
        TextError: a run longer than `LONGEST_RUN` in which there is no place at all.
    """
    text, searched = "", size
    for piece in pieces:
        text += piece
        while (cut := _next_cut(text, cuts, size, searched)) is not None:
            yield text[: cut[0]]
            text, searched = text[cut[1] :], size
        searched = max(size, len(text) - 2)  # a place there may still need what comes next
        if len(text) > size + LONGEST_RUN:
            raise TextError(
                f"the text has {LONGEST_RUN:,} characters in a row without a border between two "
                "words; use --tokenizer characters or bytepair for it"
            )
    if text:
        yield text


def sliced(text: str, size: int = BLOCK) -> Iterator[str]:
    """A whole text as pieces for `blocks`."""
    return (text[start : start + size] for start in range(0, len(text), size))


def _next_cut(text: str, cuts: Cuts, size: int, searched: int) -> tuple[int, int] | None:
    """Where the first block ends and the next begins; None while that is not certain."""
    found = cuts.after(text, searched)
    if cuts.otherwise is None:
        return found
    latest = 2 * size + LONGEST_STEP
    if found and found[0] < latest:
        return found
    if len(text) < latest + 2:  # there may still come a place before that
        return None
    forced = cuts.otherwise(text, latest)
    return forced, forced
