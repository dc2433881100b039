"""Several new tokens at once, behind those that are cached; with a table of positions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.caching import (
    APPEND,
    CACHING,
    FULL,
    HOW_LONG,
    LINE,
    NEXT,
    as_dict,
    everything,
    joined,
    prefill_mask,
    stored,
)
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
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, cache: Any, W_Q: Any, W_K: Any, W_V: Any, P: Any) -> Any:
    """softmax(Q Kᵀ / √d_k, the future hidden) V, with the keys and values of all tokens so far."""
    X = X + step.places(P, len(cache["K"]), len(X))
    Q, k, v = step.query(X, W_Q, W_K), step.key(X, W_K, W_Q), step.value(X, W_V, W_K)
    K, V = step.joined(cache["K"], k), step.joined(cache["V"], v)
    K_seen, V_seen = step.seen(cache["K"], k, K), step.seen(cache["V"], v, V)
    scores = step.hidden(step.scaled(step.products(Q, K_seen), Q, X))
    out = step.mixed(step.scaled_after(step.weights(scores), Q), V_seen)
    return out, step.handed_on(step.stored(cache["K"], K), step.stored(cache["V"], V))


def places(P: Any, old: int, new: int) -> Any:
    """The rows of the table for the new tokens, counted on from the cached ones."""
    return P[old : old + new]


def _given(seed: int, old: int, new: int, C: int, d_k: int, d_v: int) -> dict[str, Any]:
    """Arguments that give scores a spread between 1 and 2."""
    return {
        "X": normal(seed, new, C, scale=0.8),
        "cache": {"K": normal(seed + 1, old, d_k, scale=1.3), "V": normal(seed + 2, old, d_v)},
        "W_Q": normal(seed + 3, C, d_k, scale=1.3 / np.sqrt(C)),
        "W_K": normal(seed + 4, C, d_k, scale=1.3 / np.sqrt(C)),
        "W_V": normal(seed + 5, C, d_v),
        "P": normal(seed + 6, 17, C, scale=0.6),
    }


def _weights(old: int, width: int) -> dict[str, Any]:
    """One token whose output is its row of weights: all values are unit vectors."""
    given = _given(81, old, 1, width, 3, old + 1)
    unit = np.eye(old + 1)
    return {
        **given,
        "X": np.eye(width)[:1],
        "cache": {**given["cache"], "V": unit[:old]},
        "W_V": np.vstack([unit[old:], normal(86, width - 1, old + 1)]),
        "P": np.zeros((17, width)),
    }


def probes() -> Sequence[Probe]:
    """Few new tokens behind many, many behind few, as many; one alone; the beginning of a text."""
    large = _given(98, 3, 4, 6, 3, 4)
    large["X"], large["cache"]["K"] = 40 * large["X"], 900 * large["cache"]["K"]
    return (
        Probe("2 new tokens, 5 before", _given(11, 5, 2, 7, 3, 4)),
        Probe("4 new tokens, an empty cache", _given(21, 0, 4, 6, 3, 5)),
        Probe("5 new tokens, 3 before", _given(31, 3, 5, 8, 4, 3)),
        Probe("as many new as before", _given(41, 4, 4, 5, 3, 6)),
        Probe("one new token", _given(51, 4, 1, 6, 5, 3)),
        Probe("square weights", _given(61, 3, 6, 6, 6, 6)),
        Probe("weights, all seen", _weights(4, 6)),
        Probe("9 keys", _given(71, 6, 3, 7, 4, 9)),
        Probe(
            "scores of 1,000",
            large,
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
    )


NOT_UPDATED = Mistake(
    "cache-not-updated",
    {"stored": lambda old, all_: old},
    Words(
        "the cache is returned as it was: what is new is missing",
        "キャッシュが元のままで、新しいものが入っていません",
    ),
    NEXT,
    HOW_LONG,
    APPEND,
    LINE,
)

ALIGN = Words(
    "align the mask with the last key: new token i sees t + i + 1 keys.",
    "マスクを最後のキーにそろえ、i 番目には t + i + 1 個のキーを見せてください。",
)
HIDDEN_LINE = "hide = np.triu(np.ones((n, t + n), bool), t + 1)"
WHICH = Words(
    "which keys may the first of two new tokens see? And the second?",
    "新しい 2 つのトークンの 1 つ目はどのキーを見てよいですか。2 つ目は。",
)


def _without_if_cached(scores: Any) -> Any:
    new, keys = scores.shape[-2:]
    return prefill_mask(scores) if new == keys else scores


def _later(scores: Any, by: int) -> Any:
    return future(scores, scores.shape[-1] - scores.shape[-2] + by)


MASKS = (
    *(
        Mistake(
            "cache-prefill-unmasked",
            {"hidden": step},
            Words(
                "the new tokens see each other's future: no mask, or none once there is a cache",
                "新しいトークンどうしで未来が見えています (キャッシュがあるとマスクなし)",
            ),
            FULL,
            WHICH,
            ALIGN,
            HIDDEN_LINE,
        )
        for step in (lambda scores: scores, _without_if_cached)
    ),
    Mistake(
        "cache-topleft-mask",
        {"hidden": lambda scores: np.where(future(scores), -np.inf, scores)},
        Words(
            "the mask starts at key 0, not at the end of the cache: the cache is hidden",
            "マスクがキャッシュの終わりでなくキー 0 から始まり、キャッシュが隠れます",
        ),
        FULL,
        WHICH,
        ALIGN,
        HIDDEN_LINE,
    ),
    Mistake(
        "mask-peek",
        {"hidden": lambda scores: np.where(_later(scores, 2), -np.inf, scores)},
        Words(
            "the mask starts one place late: the next token is seen",
            "マスクが 1 つ遅れて始まり、次のトークンが見えています",
        ),
        FULL,
        WHICH,
        ALIGN,
        HIDDEN_LINE,
    ),
    *(
        Mistake(
            "mask-diagonal",
            {"hidden": step},
            Words("a token's own place is hidden, too", "自分自身の場所まで隠しています"),
            FULL,
            WHICH,
            ALIGN,
            HIDDEN_LINE,
        )
        for step in covering(lambda scores: _later(scores, 0))
    ),
)

POSITIONS = tuple(
    Mistake(
        "cache-position",
        {"places": step},
        found,
        Words(
            "the same token would mean something else as soon as it is cached.",
            "キャッシュを使うかどうかで、同じトークンの意味が変わってしまいます。",
        ),
        Words(
            "with 5 tokens cached, which row of P is for the next one?",
            "5 トークンがキャッシュにあるとき、次のトークンは P の何行目ですか。",
        ),
        Words("count on from the length of the cache.", "キャッシュの長さから数えてください。"),
        'X = X + P[len(cache["K"]) : len(cache["K"]) + len(X)]',
    )
    for step, found in (
        (
            lambda P, old, new: P[:new],
            Words(
                "positions start again at 0, whatever is cached",
                "キャッシュがあっても位置が 0 から数え直されています",
            ),
        ),
        (
            lambda P, old, new: P[old + new : old + 2 * new],
            Words(
                "positions jump: counted from the length after the new tokens were added",
                "位置が飛んでいます: 追加した後の長さから数えています",
            ),
        ),
        (
            lambda P, old, new: P[old + 1 : old + new + 1],
            Words("positions are one too high", "位置が 1 つ先にずれています"),
        ),
        (
            lambda P, old, new: P[max(old - 1, 0) : max(old - 1, 0) + new],
            Words("positions are one too low", "位置が 1 つ前にずれています"),
        ),
        (
            lambda P, old, new: P[old],
            Words(
                "all new tokens get the position of the first one",
                "新しいトークンすべてに最初の位置を使っています",
            ),
        ),
        (
            lambda P, old, new: 0.0,
            Words(
                "no positions are added: P is never used",
                "位置を足しておらず、P が使われていません",
            ),
        ),
    )
)

EXERCISE = Exercise(
    name="kv_cache_prefill",
    title=Words("Several tokens with a key–value cache", "KV キャッシュに複数のトークンを加える"),
    task=Words(
        "n new tokens at once, behind t that are cached; each sees the cache, the new ones before "
        "it, and itself. First add positions, X + P[t : t + n]; then Q = X W_Q, keys X W_K and "
        "values X W_V behind those cached; softmax(Q Kᵀ / √d_k, the future hidden) V.\n"
        'X: (n, C). cache: a dict, "K" (t, d_k) and "V" (t, d_v); t may be 0. P: (longest, C).\n'
        "W_Q, W_K: (C, d_k). W_V: (C, d_v).\n"
        "Returns: (out, cache): out (n, d_v); cache with t + n tokens, the same dict or a new one.",
        "キャッシュの t トークンの後ろに、n 個の新しいトークンを一度に加えます。各トークンは"
        "キャッシュと、自分より前のものと、自分を見ます。まず位置を足します: X + P[t : t + n]。\n"
        "Q = X W_Q、新しいキー X W_K、値 X W_V をキャッシュの後ろに入れ、未来を隠して "
        "softmax(Q Kᵀ / √d_k) V を計算します。X: (n, C)。P: (最大長, C)。\n"
        'cache: dict。"K" は (t, d_k)、"V" は (t, d_v)。t は 0 のこともあります。\n'
        "W_Q, W_K: (C, d_k)。W_V: (C, d_v)。\n"
        "返り値: (out, cache)。out は (n, d_v)。cache は t + n トークン (元の dict でも可)。",
    ),
    right=right,
    steps={
        "places": places,
        "query": project,
        "key": project,
        "value": project,
        "joined": joined,
        "seen": everything,
        "products": products,
        "scaled": scaled,
        "hidden": prefill_mask,
        "weights": softmax,
        "scaled_after": unscaled,
        "mixed": mixed,
        "stored": stored,
        "handed_on": as_dict,
    },
    probes=probes,
    mistakes=(
        *(each for each in PROJECTING if each.key not in ("scores-elementwise",)),
        *CACHING,
        NOT_UPDATED,
        *MASKS,
        *POSITIONS,
        *SCALING,
        SCALE_AFTER,
        *SOFTMAXING,
    ),
    ties=SCALE_TIES,
    returns=("out", "cache"),
    may_change=("cache",),
    unrepeatable="cache-not-reset",
)
