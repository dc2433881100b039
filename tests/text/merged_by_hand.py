"""Byte pair encoding as its definition says, for comparison."""

from collections.abc import Sequence
from itertools import pairwise


def spelled(merges: Sequence[Sequence[int]]) -> tuple[list[bytes], list[int]]:
    """The bytes of every id, and the id that each merge makes."""
    tokens = [bytes([byte]) for byte in range(256)]
    made = []
    for left, right in merges:
        token = tokens[left] + tokens[right]
        if token not in tokens:
            tokens.append(token)
        made.append(tokens.index(token))
    return tokens, made


def merged_by_hand(piece: bytes, merges: Sequence[Sequence[int]]) -> list[bytes]:
    """Joins the pair that was learned first, until no pair was learned."""
    tokens, _ = spelled(merges)
    ranks = {(tokens[left], tokens[right]): rank for rank, (left, right) in enumerate(merges)}
    parts = [bytes([byte]) for byte in piece]
    while pairs := [pair for pair in pairwise(parts) if pair in ranks]:
        best = min(pairs, key=ranks.__getitem__)
        place = list(pairwise(parts)).index(best)
        parts[place : place + 2] = [best[0] + best[1]]
    return parts
