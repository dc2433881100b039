"""Scaled scores: products divided by the root of the width."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Step
from clearformer.checking.families.projecting import PROJECTING, products, slips_in
from clearformer.checking.families.scaling import SCALE_TIES, SCALING, by, scaled
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, Q: Any, K: Any) -> Any:
    """Q Kᵀ / √d."""
    return step.scaled(step.products(Q, K), Q, Q)


def probes() -> Sequence[Probe]:
    """Widths 3, 4, 5 and 7, so that one divisor for all shows."""
    return (
        Probe("4 queries, 6 keys", {"Q": normal(11, 4, 3), "K": normal(12, 6, 3)}),
        Probe("5 queries, 3 keys", {"Q": normal(21, 5, 7), "K": normal(22, 3, 7)}),
        Probe("6 of both", {"Q": normal(31, 6, 4), "K": normal(32, 6, 4)}),
        Probe("as many as their width", {"Q": normal(41, 4, 4), "K": normal(42, 4, 4)}),
        Probe("width 5", {"Q": normal(51, 3, 5), "K": normal(52, 4, 5)}),
    )


def _by_queries(products: Any, Q: Any, X: Any) -> Any:
    """Divided by the root of the number of queries; `SCALING` has that of the keys."""
    return products / math.sqrt(products.shape[-2])


def _divisor(cases: Mapping[str, Case]) -> float | None:
    """By what the products were divided."""
    case = cases["4 queries, 6 keys"]
    mine, right = case.mine["output"], case.right["output"]
    if mine.shape != right.shape:
        return None
    return float(np.median(right / mine)) * math.sqrt(case.probe.arguments["Q"].shape[-1])


def _constant(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    divisor = _divisor(cases)
    if divisor is None or not math.isfinite(divisor) or math.isclose(divisor, 1, rel_tol=1e-5):
        return None
    return {"scaled": partial(by, divisor)}


def _shown(cases: Mapping[str, Case]) -> Words | None:
    divisor = _divisor(cases)
    if divisor is None:
        return None
    return Words(
        f"you divide by {divisor:.4g} at every width.", f"どの幅でも {divisor:.4g} で割っています。"
    )


EXERCISE = Exercise(
    name="scaled_scores",
    title=Words("Scaled scores", "√d で割ったスコア"),
    task=Words(
        "Compare each query with each key and keep the spread near 1: Q Kᵀ / √d.\n"
        "Q: (T, d), K: (S, d), with the same batch axes before them or none; d is their width.\n"
        "Returns: (T, S); row t holds the scores of query t.",
        "各クエリを各キーと比べ、ばらつきを 1 前後に保ちます: Q Kᵀ / √d。\n"
        "Q: (T, d)、K: (S, d)。前に同じバッチの軸があっても可。d は幅です。\n"
        "返り値: (T, S)。t 行目はクエリ t のスコアです。",
    ),
    right=right,
    steps={"products": products, "scaled": scaled},
    probes=probes,
    mistakes=(
        *slips_in(PROJECTING, "products"),
        *(
            replace(each, fit=_constant, evidence=_shown) if each.fit else each
            for each in SCALING
            if each.key != "scale-d-model"
        ),
        *(
            replace(each, change={"scaled": _by_queries})
            for each in SCALING
            if each.key == "scale-T"
        ),
    ),
    ties=SCALE_TIES,
    batched=("Q", "K"),
)
