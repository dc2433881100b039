"""How much of a text is handled at once while it is prepared."""

from dataclasses import dataclass

from clearformer.text.cuts import BLOCK
from clearformer.text.text_file import PIECE


@dataclass(frozen=True)
class Sizes:
    """Smaller ones take less memory; the ids are the same whatever they are."""

    piece: int = PIECE
    """Bytes of a file that are read at once."""

    block: int = BLOCK
    """Characters that are counted or encoded at once."""

    shard: int = 1 << 26
    """Bytes of ids in a shard, about."""

    landmark: int = 1 << 24
    """Bytes of text between two places where reading can begin."""
