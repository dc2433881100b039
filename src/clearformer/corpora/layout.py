"""How a text is shared out over shards."""

from collections.abc import Sequence
from pathlib import Path

from clearformer.corpora.plan import PlannedShard
from clearformer.text.cuts import Cuts
from clearformer.text.text_files import Landmark, TextFiles

SHORTEST = 64
"""Characters of a shard; fewer are asked for only by tests."""


class Layout:
    """Finds the shards of a text.

    Each part of the text, the one to learn from and the one to be judged by, has shards of its
    own. A shard ends at the first place after its share of characters where the tokenizer always
    cuts; where there is none, it goes on to the end of the part.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        encoding: str,
        cuts: Cuts,
        landmarks: Sequence[Landmark],
        piece: int,
    ) -> None:
        self._paths, self._encoding, self._piece = paths, encoding, piece
        self._cuts, self._landmarks = cuts, landmarks

    def shards(self, part: str, begin: int, end: int, share: int) -> list[PlannedShard]:
        """The shards of the part from `begin` to `end`, each of about `share` characters."""
        found: list[PlannedShard] = []
        while begin < end:
            target = begin + max(share, SHORTEST)
            cut = self._cut(target, end) if target < end else None
            stop, following = cut or (end, end)
            name = f"{part}-{len(found):05}.ids"
            found.append(PlannedShard(name, begin, stop, self._landmark(begin)))
            begin = following
        return found

    def _landmark(self, place: int) -> Landmark:
        """The last one at or before a place."""
        return max(
            (each for each in self._landmarks if each.characters <= place),
            key=lambda each: each.characters,
        )

    def _cut(self, target: int, end: int) -> tuple[int, int] | None:
        """The first place at or after `target` and before `end` where a shard may end."""
        if self._cuts.always is None:
            return target, target
        start = self._landmark(target - 1)  # a cut is known by what is before it
        place = start.characters
        text, before = "", target - 1
        for piece in TextFiles(self._paths, self._encoding, start=start, piece=self._piece):
            text += piece[max(before - place, 0) : max(end - place, 0)]
            place += len(piece)
            cut = self._cuts.after(text, max(target - before, 0))
            if cut:
                return before + cut[0], before + cut[1]
            if place >= end:
                return None
            known = max(len(text) - 2, 0)  # there a place may still need what comes next
            text, before = text[known:], before + known
        return None
