"""Queries, keys and values: three views of the same tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.projecting import PROJECTING, THREE, project, slips_in
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    """X W_Q, X W_K, X W_V."""
    Q, K, V = step.query(X, W_Q, W_K), step.key(X, W_K, W_Q), step.value(X, W_V, W_K)
    return step.order(Q, K, V)


def probes() -> Sequence[Probe]:
    """Widths that are all different, that are all alike, and a batch of texts."""

    def of(seed: int, shape: tuple[int, ...], d_k: int, d_v: int) -> dict[str, Any]:
        X, C = normal(seed, *shape), shape[-1]
        weights = [normal(seed + i, C, d) for i, d in enumerate((d_k, d_k, d_v), 1)]
        return dict(zip(("X", "W_Q", "W_K", "W_V"), (X, *weights), strict=True))

    return (
        Probe("5 tokens", of(11, (5, 7), 3, 4)),
        Probe("square weights", of(21, (4, 6), 6, 6)),
        Probe("values as wide as keys", of(31, (6, 5), 3, 3)),
        Probe("as many tokens as width", of(41, (4, 4), 3, 5)),
        Probe("the weights themselves", {**of(51, (5, 5), 3, 4), "X": np.eye(5)}),
    )


def _unprojected(letter: str) -> tuple[Words, Words, Words, Words, str]:
    name = f"W_{letter}"
    return (
        Words(
            f"{letter} is X itself; {name} is never used",
            f"{letter} が X そのままで、{name} が使われていません",
        ),
        THREE,
        Words(f"where in your code does {name} appear?", f"{name} はどこに出てきますか。"),
        Words(f"make {letter} with {name}.", f"{letter} は {name} で作ってください。"),
        f"{letter} = X @ {name}",
    )


OTHER_ORDERS = tuple(
    Mistake(
        "qkv-order",
        {"order": order},
        Words(
            "the three are returned in another order than Q, K, V",
            "3 つが Q, K, V とは別の順で返されています",
        ),
        Words(
            "who calls it takes the first for queries: tokens would ask with what they offer.",
            "呼び出し側は 1 つ目をクエリとして使うので、役割が入れ替わります。",
        ),
        Words("in which order should they come back?", "どの順で返すのでしたか。"),
        Words("return Q, then K, then V.", "Q、K、V の順に返してください。"),
        "return X @ W_Q, X @ W_K, X @ W_V",
    )
    for order in (
        lambda Q, K, V: (K, Q, V),
        lambda Q, K, V: (Q, V, K),
        lambda Q, K, V: (V, K, Q),
        lambda Q, K, V: (K, V, Q),
        lambda Q, K, V: (V, Q, K),
    )
)

EXERCISE = Exercise(
    name="query_key_value",
    title=Words("Queries, keys, values", "クエリ、キー、値"),
    task=Words(
        "Make three views of each token: what it asks for, by what it is found, what it gives.\n"
        "Q = X W_Q, K = X W_K, V = X W_V.\n"
        "X: (T, C), with any batch axes before them or none. W_Q, W_K: (C, d_k). W_V: (C, d_v).\n"
        "Returns: (Q, K, V), of shapes (T, d_k), (T, d_k), (T, d_v).",
        "各トークンから、尋ねる・見つけられる・渡す、の 3 つの役割の表を作ります。\n"
        "Q = X W_Q, K = X W_K, V = X W_V。\n"
        "X: (T, C)。前にバッチの軸があっても可。W_Q, W_K: (C, d_k)。W_V: (C, d_v)。\n"
        "返り値: (Q, K, V)。形は (T, d_k)、(T, d_k)、(T, d_v)。",
    ),
    right=right,
    steps={
        "query": project,
        "key": project,
        "value": project,
        "order": lambda Q, K, V: (Q, K, V),
    },
    probes=probes,
    mistakes=(
        *slips_in(PROJECTING, "query", "key", "value"),
        Mistake("q-unprojected", {"query": lambda X, *_: X}, *_unprojected("Q")),
        Mistake("k-unprojected", {"key": lambda X, *_: X}, *_unprojected("K")),
        *OTHER_ORDERS,
    ),
    returns=("Q", "K", "V"),
    batched=("X",),
)
