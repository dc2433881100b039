"""What a model on pairs answers while it is trained."""

from typing import Any

import numpy as np

from clearformer.models.pairs.marks import end_of
from clearformer.models.pairs.search import search
from clearformer.text.pair_ids import side_by_side
from clearformer.training.judged_pairs import JudgedPairs
from clearformer.training.preparation import Prepared

SAMPLES = 3
"""Sources of which the answers are shown, always the same ones."""


def answers(model: Any, prepared: Prepared) -> str:
    """A line for each of some sources: the answer of the model, and what was right."""
    judged, tokenizer = prepared.validation, prepared.tokenizer
    if not isinstance(judged, JudgedPairs) or not judged.is_enough:
        return ""
    pairs = judged.pairs
    shown = min(SAMPLES, len(pairs))
    numbers = np.arange(shown) * len(pairs) // shown
    read, lengths = side_by_side(
        [pairs.sources.text(n) for n in numbers.tolist()], end_of(prepared.model.vocabulary)
    )
    found = search(model, read, lengths, longest=prepared.model.window, never=tokenizer.control_ids)
    return "\n".join(
        _line(
            tokenizer.decode(pairs.sources.text(number)),
            tokenizer.decode(answer.ids),
            judged.targets[number],
        )
        for number, answer in zip(numbers.tolist(), found, strict=True)
    )


def _line(source: str, answer: str, right: str) -> str:
    verdict = "right" if answer == right else f"right is {right}"
    return f"{source} → {answer} ({verdict})"
