"""Causal mask: scores with the future hidden."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step, Variant
from clearformer.checking.families.masking import (
    HIDE,
    LEAK,
    LINE,
    MASK_TIES,
    MASKING,
    NUMBER,
    future,
    hidden,
)
from clearformer.checking.families.projecting import slips_in
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, scores: Any) -> Any:
    """-inf on every key that comes after its query."""
    return step.after(step.hidden(scores))


def probes() -> Sequence[Probe]:
    """Tables of different sizes, one of them with only negative scores."""
    return (
        Probe("4 tokens", {"scores": normal(11, 4, 4)}),
        Probe("5 tokens", {"scores": normal(21, 5, 5)}),
        Probe("7 tokens", {"scores": 2 * normal(31, 7, 7)}),
        Probe("only negative scores", {"scores": -1 - np.abs(normal(41, 3, 3))}),
        Probe("only positive scores", {"scores": 1 + np.abs(normal(51, 6, 6))}),
    )


def _fill(case: Case) -> tuple[float, bool] | None:
    """The one number that stands in the hidden places, and whether it was added to the score."""
    scores, mine = case.probe.arguments["scores"], case.mine["output"]
    if mine.shape != scores.shape:
        return None
    there = np.broadcast_to(future(scores), scores.shape)
    for number, added in ((mine, False), (mine - scores, True)):
        value = float(number[there][0])
        if np.isfinite(value) and np.allclose(number[there], value, 1e-6, 1e-6):
            return value, added
    return None


def _filled(cases: Mapping[str, Case], lowest: float, highest: float) -> Mapping[str, Step] | None:
    found = _fill(cases["4 tokens"])
    if found is None or not lowest <= found[0] <= highest:
        return None
    value, added = found

    def hidden(scores: Any) -> Any:
        lowest = np.finfo(scores.dtype).min if np.isfinite(value) else value
        return np.where(future(scores), max(value, lowest) + scores * added, scores)

    return {"hidden": hidden}


LARGE = 1e4
"""A score never comes near -10,000; exp of it is 0 in every precision."""


def _large(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    return _filled(cases, -np.inf, -LARGE * 0.99)


def _small(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    return _filled(cases, -LARGE * 0.99, -1.5)


def _shown(cases: Mapping[str, Case]) -> Words | None:
    found = _fill(cases["4 tokens"])
    if found is None:
        return None
    how = ("stands in", "が入って") if not found[1] else ("was added in", "が足されて")
    return Words(
        f"{found[0]:.4g} {how[0]} the hidden places.", f"隠す場所に {found[0]:.4g} {how[1]}います。"
    )


def _table(below: float, above: float) -> Step:
    """The mask itself, whatever the scores."""
    return lambda scores: np.where(np.broadcast_to(future(scores), scores.shape), above, below)


NOT_APPLIED = tuple(
    Mistake(
        "mask-not-applied",
        {"hidden": step},
        Words(
            "the mask itself is returned, not the scores under it",
            "マスクをかけたスコアではなく、マスクそのものを返しています",
        ),
        Words("the scores are lost: every visible key counts alike.", "スコアが失われています。"),
        Words("do your results depend on the scores?", "結果はスコアによって変わりますか。"),
        HIDE,
        LINE,
    )
    for step in (_table(1, 0), _table(0, 1), _table(0, -np.inf), _table(0, -1e9))
)

SMALL_FILL = Mistake(
    "mask-fill-small",
    {"hidden": lambda scores: np.where(future(scores), -100.0, scores)},
    Words(
        "hidden scores are set to a number that real scores can reach",
        "隠すスコアに、本物のスコアでもありうる数を入れています",
    ),
    LEAK,
    NUMBER,
    HIDE,
    LINE,
    evidence=_shown,
    fit=_small,
)

OTHERS = (
    Mistake(
        "mask-fill-nan",
        {"hidden": lambda scores: np.where(future(scores), np.nan, scores)},
        Words("hidden scores are NaN", "隠すスコアが NaN になっています"),
        Words("softmax makes the whole row NaN.", "softmax で行全体が NaN になります。"),
        NUMBER,
        HIDE,
        LINE,
    ),
    Mistake(
        "mask-softmaxed",
        {"after": softmax},
        Words(
            "softmax was taken as well; here the scores are asked for",
            "softmax まで取っています。ここではスコアを返します",
        ),
        Words(
            "a second softmax, which comes next, would make the weights flat.",
            "次の段階でもう一度 softmax を取ると重みが平らになります。",
        ),
        Words(
            "does the task ask for scores or for weights?",
            "求められているのはスコアですか、重みですか。",
        ),
        Words("return the scores with −inf in them.", "−inf を入れたスコアを返してください。"),
        LINE,
    ),
)

EXERCISE = Exercise(
    name="causal_mask",
    title=Words("Causal mask", "因果マスク"),
    task=Words(
        "Hide the future: set every score whose key comes after its query to −inf.\n"
        "scores: (T, T), a row is a query, with any batch axes before it or none.\n"
        "Returns: the same shape; what may be seen stays as it is. A token sees itself.",
        "未来を隠します: キーがクエリより後にあるスコアをすべて −inf にします。\n"
        "scores: (T, T)、行がクエリです。前にバッチの軸があっても可。\n"
        "返り値: 同じ形。見てよい場所はそのまま。自分自身は見えます。",
    ),
    right=right,
    steps={"hidden": hidden, "after": lambda scores: scores},
    probes=probes,
    mistakes=(*slips_in(MASKING, "hidden"), *NOT_APPLIED, SMALL_FILL, *OTHERS),
    variants=(
        Variant(
            "fill-large-negative",
            {"hidden": lambda scores: np.where(future(scores), -1e9, scores)},
            Words(
                "a large negative number instead of −inf: its weight is 0 just the same",
                "−inf の代わりに大きな負の数: 重みは同じく 0 になります",
            ),
            fit=_large,
        ),
    ),
    ties=MASK_TIES,
    batched=("scores",),
)
