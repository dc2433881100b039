"""Cross-attention: tokens of one text look at those of another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families import modules
from clearformer.checking.families.masking import covering, future
from clearformer.checking.families.projecting import PROJECTING, mixed, products, project
from clearformer.checking.families.scaling import (
    SCALE_AFTER,
    SCALE_TIES,
    SCALING,
    scaled,
    unscaled,
)
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.families.watching import ROW_SUMS
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, memory: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    """softmax(Q Kᵀ / √d_k) V, queries of X, keys and values of memory."""
    asking, found, giving = step.sources(X, memory)
    Q, K = step.query(asking, W_Q, W_K), step.key(found, W_K, W_Q)
    V = step.value(giving, W_V, W_K)
    scores = step.hidden(step.scaled(step.products(Q, K), Q, X))
    return step.mixed(step.scaled_after(step.weights(scores), Q), V)


def _given(
    seed: int, queries: int, keys: int, widths: tuple[int, int], d_k: int, d_v: int
) -> dict[str, Any]:
    """Arguments that give scores a spread between 1 and 2; the widths are of X and of memory."""
    C, M = widths
    return {
        "X": normal(seed, queries, C),
        "memory": normal(seed + 1, keys, M),
        "W_Q": normal(seed + 2, C, d_k, scale=1.3 / np.sqrt(C)),
        "W_K": normal(seed + 3, M, d_k, scale=1.3 / np.sqrt(M)),
        "W_V": normal(seed + 4, M, d_v),
    }


def probes() -> Sequence[Probe]:
    """Fewer queries than keys, more, and as many; two widths where the memory has its own.

    With X and memory the identity the other arguments are Q, K and V.
    """
    shown = {
        "X": np.eye(4),
        "memory": np.eye(6),
        "W_Q": normal(51, 4, 3),
        "W_K": normal(52, 6, 3),
        "W_V": np.eye(6),
    }
    large = _given(98, 6, 3, (6, 6), 3, 4)
    return (
        Probe("4 queries, 6 keys", _given(11, 4, 6, (7, 7), 3, 5)),
        Probe("6 queries, 3 keys", _given(21, 6, 3, (8, 8), 5, 4)),
        Probe("5 of both", _given(31, 5, 5, (7, 7), 4, 3)),
        Probe("square weights", _given(41, 4, 5, (6, 6), 6, 6)),
        Probe("weights, all seen", shown),
        Probe("a wider memory", _given(61, 3, 7, (4, 6), 5, 3)),
        Probe("all sizes alike", _given(81, 4, 4, (4, 4), 4, 4)),
        Probe(
            "scores of 1,000",
            {**large, "X": 40 * large["X"], "memory": 40 * large["memory"]},
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
    )


ROLES = Words(
    "the text being written asks; what it reads in the other one answers.",
    "書いている側が尋ね、読まれる側が答えます。",
)
FROM_MEMORY = Words(
    "make queries from X, keys and values from memory.",
    "クエリは X から、キーと値は memory から作ってください。",
)
LINES = "Q, K, V = X @ W_Q, memory @ W_K, memory @ W_V"
WHO = Words(
    "who asks, and who is asked? How many rows must come out?",
    "尋ねるのはどちらで、尋ねられるのはどちらですか。出力は何行ですか。",
)


def _mixed_up(key: str, sources: Any, found: Words) -> Mistake:
    return Mistake(key, {"sources": sources}, found, ROLES, WHO, FROM_MEMORY, LINES)


def _aligned(scores: Any) -> Any:
    """The future, where the last query stands at the last key."""
    return future(scores, scores.shape[-1] - scores.shape[-2] + 1)


CROSSING = (
    _mixed_up(
        "cross-q-kv-swapped",
        lambda X, memory: (memory, X, X),
        Words(
            "queries come from memory, keys and values from X: exchanged",
            "クエリを memory から、キーと値を X から作っています (逆です)",
        ),
    ),
    _mixed_up(
        "cross-mixed",
        lambda X, memory: (X, memory, X),
        Words("values come from X instead of memory", "値を memory ではなく X から作っています"),
    ),
    _mixed_up(
        "cross-mixed",
        lambda X, memory: (X, X, memory),
        Words("keys come from X instead of memory", "キーを memory ではなく X から作っています"),
    ),
    _mixed_up(
        "cross-mixed",
        lambda X, memory: (X, X, X),
        Words(
            "all three come from X: memory is never looked at",
            "3 つとも X から作っており、memory が使われていません",
        ),
    ),
    _mixed_up(
        "cross-mixed",
        lambda X, memory: (memory, memory, memory),
        Words(
            "all three come from memory: X is never used",
            "3 つとも memory から作っており、X が使われていません",
        ),
    ),
    *(
        Mistake(
            "cross-causal",
            {"hidden": step},
            Words(
                "a causal mask hides part of memory; here all of it may be seen",
                "因果マスクで memory の一部を隠しています。ここではすべて見えます",
            ),
            Words(
                "the other text is there as a whole: nothing of it is the future.",
                "もう一方の文はすべてそろっており、未来はありません。",
            ),
            Words("is there a future in memory?", "memory に未来はありますか。"),
            Words("leave the mask out.", "マスクを外してください。"),
            "weights = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1]))",
        )
        for step in (*covering(future), *covering(_aligned))
    ),
)

EXERCISE = Exercise(
    name="cross_attention",
    title=Words("Cross-attention", "クロスアテンション"),
    task=Words(
        "Each token of X looks at all tokens of another text, memory, and mixes their values:\n"
        "Q = X W_Q, K = memory W_K, V = memory W_V; softmax(Q Kᵀ / √d_k) V. Nothing is hidden.\n"
        "X: (T, C), memory: (S, M), with the same batch axes before them or none; often M = C.\n"
        "W_Q: (C, d_k). W_K: (M, d_k). W_V: (M, d_v).\n"
        "Returns: (T, d_v); you may return the weights as well, behind it.",
        "X の各トークンが、別の文 memory のすべてのトークンを見て、その値を混ぜます:\n"
        "Q = X W_Q, K = memory W_K, V = memory W_V; softmax(Q Kᵀ / √d_k) V。何も隠しません。\n"
        "X: (T, C)、memory: (S, M)。前に同じバッチの軸があっても可。M = C のことが多いです。\n"
        "W_Q: (C, d_k)。W_K: (M, d_k)。W_V: (M, d_v)。\n"
        "返り値: (T, d_v)。その後ろに重みを付けて返しても構いません。",
    ),
    right=right,
    steps={
        "sources": lambda X, memory: (X, memory, memory),
        "query": project,
        "key": project,
        "value": project,
        "products": products,
        "scaled": scaled,
        "hidden": lambda scores: scores,
        "weights": softmax,
        "scaled_after": unscaled,
        "mixed": mixed,
    },
    probes=probes,
    module=modules.CROSS_ATTENTION,
    mistakes=(*PROJECTING, *CROSSING, *SCALING, SCALE_AFTER, *SOFTMAXING),
    ties=SCALE_TIES,
    batched=("X", "memory"),
    clues=(ROW_SUMS,),
    unrepeatable="dropout-in-eval",
)
