"""Dropout on the scores instead of the weights: the step `dropped(scores)`, before the softmax.

What was dropped is random, so it is read off the answer: for every row the one choice of dropped
scores that gives its numbers, with one rate for all. An answer for which there is such a choice on
every input has no other explanation.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Step
from clearformer.checking.families.masking import hidden
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.words import Words

RATES = (0.1, 0.2, 0.5, 0.3, 0.25, 0.4, 0.05, 0.15)
"""Those in use."""


def whole(scores: Any) -> Any:
    """Nothing is dropped."""
    return scores


def _example(scores: Any) -> Any:
    kept = np.random.default_rng(scores.size).random(scores.shape) > 0.2
    return scores * kept / 0.8


def _scores(given: Mapping[str, Any]) -> Any:
    """As they are right before the softmax."""
    Q, K = given["X"] @ given["W_Q"], given["X"] @ given["W_K"]
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    return hidden(scores) if given.get("masked", True) else scores


def _row(scores: Any, V: Any, mine: Any, rate: float) -> Any:
    """The scores of one query with those dropped that give its output; None if there are none."""
    choices = np.array(list(product([1.0, 0.0], repeat=len(scores)))) * scores / (1 - rate)
    outputs = softmax(choices) @ V
    fits = np.isclose(outputs, mine, 1e-4, 1e-6, equal_nan=True).all(-1)
    gaps = np.where(fits, np.nan_to_num(np.abs(outputs - mine)).sum(-1), np.inf)
    return choices[gaps.argmin()] if fits.any() else None


def _table(scores: Any, V: Any, mine: Any, rate: float) -> Any:
    """All rows of one text, with -inf or -1e9 in the hidden places."""
    for fill in (-np.inf, -1e9):
        filled = np.where(np.isinf(scores), fill, scores)
        rows = []
        for each, output in zip(filled, mine, strict=True):
            rows.append(_row(each, V, output, rate))
            if rows[-1] is None:
                break
        else:
            return np.array(rows)
    return None


def _read_off(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    decisive = [case for case in cases.values() if case.probe.role == "main"]
    found = (_tables(decisive, rate) for rate in RATES)
    tables = next((each for each in found if each is not None), None)
    if tables is None or not _by_chance(tables):
        return None
    return {"dropped": partial(_look_up, tables)}


def _tables(cases: Sequence[Case], rate: float) -> list[tuple[Any, Any]] | None:
    """For each input the scores before and after dropping at this rate; None where none fit."""
    tables = []
    for case in cases:
        given, mine = case.probe.arguments, case.mine["output"]
        scores, V = _scores(given), given["X"] @ given["W_V"]
        if mine.shape != V.shape:
            return None
        flat = (each.reshape(-1, *each.shape[-2:]) for each in (scores, V, mine))
        after = [_table(s, v, output, rate) for s, v, output in zip(*flat, strict=True)]
        if any(each is None for each in after):
            return None
        tables.append((scores, np.array(after).reshape(scores.shape)))
    return tables


def _by_chance(tables: list[tuple[Any, Any]]) -> bool:
    """Whether scores were dropped, and not just all of one sign, as a ReLU does."""
    kept, dropped = set(), set()
    for before, after in tables:
        seen = np.isfinite(before)
        seen &= seen.sum(-1, keepdims=True) > 1  # the weight of a single one is 1 in any case
        gone = after == 0
        kept |= set(np.sign(before[seen & ~gone]))
        dropped |= set(np.sign(before[seen & gone]))
    return bool(kept & dropped)


def _look_up(tables: list[tuple[Any, Any]], scores: Any) -> Any:
    for before, after in tables:
        if np.array_equal(before, scores):
            return after
    raise ValueError("scores of another input")


DROPPING = Mistake(
    "dropout-before-softmax",
    {"dropped": _example},
    Words(
        "dropout was applied to the scores, before the softmax",
        "softmax の前のスコアにドロップアウトをかけています",
    ),
    Words(
        "a dropped score becomes 0, not hidden; and 0 times −inf is NaN, now and then.",
        "落としたスコアは 0 になるだけで消えず、−inf に 0 を掛けて時々 NaN になります。",
    ),
    Words(
        "what weight does a score of 0 get? And what is 0 times −inf?",
        "スコア 0 の重みはいくつですか。0 掛ける −inf は。",
    ),
    Words(
        "drop weights, after the softmax, and only while training.",
        "softmax の後の重みにかけ、しかも学習中だけにしてください。",
    ),
    "weights = dropout(softmax(scores)) if training else softmax(scores)",
    fit=_read_off,
)
"""Of self-attention with one head."""
