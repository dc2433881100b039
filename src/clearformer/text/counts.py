"""How often each piece of a text occurs, in bounded memory."""

from collections.abc import Mapping


class Counts:
    """Counts that are added up block by block.

    Once there are more than twice `limit` different pieces, only the `limit` most frequent are
    kept, of equally frequent ones those that were met first (Manku and Motwani 2002 bound such
    an error: only rare pieces are affected). The outcome depends on the text and on where its
    blocks end, so these must be those of `cuts.blocks` with its own size of a block.

    Attributes:
        table: each piece with its count, first seen first.
        pruned: whether rare pieces were dropped on the way.
    """

    def __init__(self, limit: int) -> None:
        self.table: dict[str, int] = {}
        self.pruned = False
        self._limit = limit

    def add(self, found: Mapping[str, int]) -> None:
        """Takes the counts of the next block, first seen first."""
        table = self.table
        for piece, count in found.items():
            table[piece] = table.get(piece, 0) + count
        if len(table) > 2 * self._limit:
            self.table = most_frequent(table, self._limit)
            self.pruned = True


def most_frequent(counts: Mapping[str, int], number: int) -> dict[str, int]:
    """At most `number` of the pieces, in the order they had."""
    if len(counts) <= number:
        return dict(counts)
    ordered = sorted(counts, key=counts.__getitem__, reverse=True)  # equal ones keep their order
    kept = set(ordered[:number])
    return {piece: count for piece, count in counts.items() if piece in kept}
