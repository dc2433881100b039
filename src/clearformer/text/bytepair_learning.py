"""Learning byte pairs from counted pieces (Sennrich et al. 2016, arXiv 1508.07909)."""

import json
from collections.abc import Iterator, Mapping

BYTES = 256
"""The vocabulary begins with every byte, so that no text is unknown."""

MOST_PIECES = 1 << 17
"""Distinct pieces to learn from, the most frequent; the learner needs about 1.2 KiB for each."""

BETWEEN = "\xff"
"""Stands between two pieces; a byte that UTF-8 does not use."""

SPELLED = 1 << 14
"""Bytes of pieces given to the learner at once."""

SEEN_TWICE = 2
"""A pair that occurs only once is not worth a token."""


def learned_merges(counts: Mapping[str, int], vocabulary: int) -> list[tuple[int, int]]:
    """Merges of two ids, in the order in which they are learned.

    Args:
        counts: how often each piece of a text occurs; pairs are counted inside pieces.
        vocabulary: ids that there may be, at least `BYTES`.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import CharDelimiterSplit
    from tokenizers.trainers import BpeTrainer

    learner = Tokenizer(BPE())
    learner.pre_tokenizer = CharDelimiterSplit(BETWEEN)
    trainer = BpeTrainer(
        vocab_size=vocabulary,
        min_frequency=SEEN_TWICE,
        initial_alphabet=[chr(byte) for byte in range(BYTES)],
        special_tokens=[],
        show_progress=False,
    )
    learner.train_from_iterator(_spelled(counts), trainer)
    ids = learner.get_vocab(with_added_tokens=False)
    merges = json.loads(learner.to_str())["model"]["merges"]
    return [(ids[left], ids[right]) for left, right in merges]


def _spelled(counts: Mapping[str, int]) -> Iterator[str]:
    """Each piece as often as it occurs, a byte written as the character of its number.

    The library counts what it is given; it takes many pieces in one string three times as fast as
    one by one.
    """
    waiting: list[str] = []
    size = 0
    for piece, count in counts.items():
        spelled = piece.encode("utf-8").decode("latin-1") + BETWEEN
        at_once = SPELLED // len(spelled) + 1
        for done in range(0, count, at_once):
            waiting.append(spelled * min(at_once, count - done))
            size += len(waiting[-1])
            if size >= SPELLED:
                yield "".join(waiting)
                waiting, size = [], 0
    yield "".join(waiting)
