"""One step of writing: a new token looks at what was cached of those before it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Variant
from clearformer.checking.families.caching import (
    CACHING,
    FULL,
    as_dict,
    everything,
    joined,
    prefill_mask,
    stored,
)
from clearformer.checking.families.masking import future
from clearformer.checking.families.projecting import PROJECTING, mixed, products, project, slips_in
from clearformer.checking.families.scaling import (
    SCALE_AFTER,
    SCALE_TIES,
    SCALING,
    scaled,
    unscaled,
)
from clearformer.checking.families.softmaxing import ROWS, SOFTMAXING, softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, cache: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    """softmax(q Kᵀ / √d_k) V, with the keys and values of all tokens so far."""
    rows = x.reshape(-1, x.shape[-1])
    q, k, v = step.query(rows, W_Q, W_K), step.key(rows, W_K, W_Q), step.value(rows, W_V, W_K)
    K, V = step.joined(cache["K"], k), step.joined(cache["V"], v)
    K_seen, V_seen = step.seen(cache["K"], k, K), step.seen(cache["V"], v, V)
    scores = step.hidden(step.scaled(step.products(q, K_seen), q, rows))
    out = step.mixed(step.scaled_after(step.weights(scores), q), V_seen)
    kept = step.handed_on(step.stored(cache["K"], K), step.stored(cache["V"], V))
    return step.shaped(out, x), kept


def shaped(out: Any, x: Any) -> Any:
    """A vector for a vector, rows for rows."""
    return out[0] if x.ndim == 1 else out


def _given(seed: int, old: int, C: int, d_k: int, d_v: int, new: int = 1) -> dict[str, Any]:
    """Arguments that give scores a spread between 1 and 2."""
    return {
        "x": normal(seed, new, C),
        "cache": {"K": normal(seed + 1, old, d_k, scale=1.3), "V": normal(seed + 2, old, d_v)},
        "W_Q": normal(seed + 3, C, d_k, scale=1.3 / np.sqrt(C)),
        "W_K": normal(seed + 4, C, d_k, scale=1.3 / np.sqrt(C)),
        "W_V": normal(seed + 5, C, d_v),
    }


def _weights(old: int, width: int) -> dict[str, Any]:
    """Values that are unit vectors, the new one the last: the output is the row of weights."""
    given = _given(61, old, width, 3, old + 1)
    unit = np.eye(old + 1)
    given["cache"]["V"] = unit[:old]
    given["x"] = np.eye(width)[:1]
    given["W_V"] = np.vstack([unit[old:], normal(66, width - 1, old + 1)])
    return given


def _cases() -> Mapping[str, dict[str, Any]]:
    return {
        "4 tokens before": _given(11, 4, 7, 3, 5),
        "an empty cache": _given(21, 0, 6, 4, 3),
        "one token before": _given(31, 1, 5, 3, 4),
        "square weights": _given(41, 5, 4, 4, 4),
        "6 tokens before": _given(51, 6, 8, 5, 3),
        "weights, all seen": _weights(4, 6),
    }


def probes() -> Sequence[Probe]:
    """One token as a vector; the same as a table of one row, for who prefers that; several."""
    vectors = {name: {**given, "x": given["x"][0]} for name, given in _cases().items()}
    large = _given(72, 3, 6, 4, 5)
    large["x"], large["cache"]["K"] = 90 * large["x"][0], -90 * np.abs(large["cache"]["K"])
    large["W_Q"], large["x"] = np.abs(large["W_Q"]), np.abs(large["x"])
    large["W_K"] = -np.abs(large["W_K"])
    high = {**large, "cache": {**large["cache"], "K": -large["cache"]["K"]}}
    return (
        *(Probe(name, given, form="a vector") for name, given in vectors.items()),
        *(Probe(f"{name}, as a row", given, form="one row") for name, given in _cases().items()),
        *(
            Probe(
                f"scores of {sign}1,000",
                given,
                role="stress",
                form="a vector",
                says=Words(f"scores of {sign}1,000", f"{sign}1,000 ほどのスコア"),
            )
            for sign, given in (("+", high), ("−", large))
        ),
        *(
            Probe(
                f"{new} new tokens, {old} before",
                _given(81 + old, old, 6, 4, 5, new),
                role="stress",
                form="several rows",
                says=Words("several new tokens at once", "複数の新しいトークン"),
            )
            for new, old in ((4, 0), (2, 3))
        ),
    )


SINGLETON = Mistake(
    "softmax-singleton",
    {"weights": lambda scores: softmax(scores, -2)},
    Words(
        "softmax taken along an axis of length 1: every weight is 1",
        "長さ 1 の軸で softmax を取っており、重みがすべて 1 です",
    ),
    ROWS,
    Words("what do the weights of all keys add up to?", "すべてのキーの重みの和はいくつですか。"),
    Words("take it over the keys.", "キーの軸で取ってください。"),
    "weights = softmax(q @ K.T / np.sqrt(q.shape[-1]))",
)

TOP_LEFT = Words(
    "the mask starts at key 0, not at the end of the cache: the cache is hidden",
    "マスクがキャッシュの終わりでなくキー 0 から始まり、キャッシュが隠れます",
)


def _mask(key: str, step: Any, found: Words, *, beside: bool = True) -> Mistake:
    return Mistake(
        key,
        {"hidden": step},
        found,
        FULL,
        Words(
            "which keys may the new token see? And the first of two new ones?",
            "新しいトークンはどのキーを見てよいですか。2 つあれば 1 つ目は。",
        ),
        Words(
            "hide nothing for one token; of several, token i sees t + i + 1 keys.",
            "1 つなら何も隠さず、複数なら i 番目に t + i + 1 個のキーを見せてください。",
        ),
        "hide = np.triu(np.ones((n, t + n), bool), t + 1)",
        beside=beside,
    )


def _top_left(scores: Any) -> Any:
    return np.where(future(scores), -np.inf, scores)


SEVERAL = (
    _mask("cache-topleft-mask", _top_left, TOP_LEFT, beside=False),
    _mask(
        "cache-topleft-mask",
        lambda scores: _top_left(scores) if scores.shape[-2] > 1 else scores,
        TOP_LEFT,
    ),
)


def _only_rows(out: Any, x: Any) -> Any:
    if x.ndim == 1:
        raise ValueError("expected a table of one row")
    return out[0] if len(x) == 1 else out


VARIANTS = (
    Variant(
        "out-as-row",
        {"shaped": lambda out, x: out},
        Words(
            "the output is a table of one row, (1, d_v), for a vector too",
            "出力が 1 行の表 (1, d_v) です (ベクトルに対しても)",
        ),
    ),
    Variant(
        "out-as-vector",
        {"shaped": _only_rows},
        Words(
            "the output is a vector, (d_v,), for a table of one row too",
            "出力がベクトル (d_v,) です (1 行の表に対しても)",
        ),
    ),
)

NEVER_HERE = "softmax-axis0", "softmax-whole", "softmax-keepdims", "softmax-global-max"
"""With one row of scores these change nothing, or are told as another."""

EXERCISE = Exercise(
    name="kv_cache_step",
    title=Words("One step with a key–value cache", "KV キャッシュを使う 1 ステップ"),
    task=Words(
        "A new token looks at all before it and at itself, without computing theirs again:\n"
        "q = x W_Q, k = x W_K, v = x W_V; put k and v behind the cache; softmax(q Kᵀ / √d_k) V.\n"
        "x: (C,), one token; you may take it as a table of one row, (1, C), instead.\n"
        'cache: a dict, "K" of shape (t, d_k) and "V" of (t, d_v); t may be 0.\n'
        "W_Q, W_K: (C, d_k). W_V: (C, d_v).\n"
        "Returns: (out, cache): out (d_v,), or (1, d_v) for a row; cache with t + 1 tokens, the "
        "same dict or a new one.",
        "新しいトークンが、前のトークンすべてと自分を見ます。前の分は計算し直しません:\n"
        "q = x W_Q, k = x W_K, v = x W_V。k, v をキャッシュの後ろに入れ、softmax(q Kᵀ / √d_k) V。\n"
        "x: (C,)、1 トークン。1 行の表 (1, C) として受け取る書き方でも構いません。\n"
        'cache: dict。"K" の形は (t, d_k)、"V" は (t, d_v)。t は 0 のこともあります。\n'
        "W_Q, W_K: (C, d_k)。W_V: (C, d_v)。\n"
        "返り値: (out, cache)。out は (d_v,) (1 行の表なら (1, d_v))。cache は t + 1 トークンに"
        "なったもの (元の dict でも新しいものでも可)。",
    ),
    right=right,
    steps={
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
        "shaped": shaped,
    },
    probes=probes,
    mistakes=(
        *slips_in(PROJECTING, "query", "key", "value"),
        *CACHING,
        *SCALING,
        SCALE_AFTER,
        SINGLETON,
        *(each for each in SOFTMAXING if each.key not in NEVER_HERE),
        *SEVERAL,
    ),
    variants=VARIANTS,
    ties=SCALE_TIES,
    returns=("out", "cache"),
    may_change=("cache",),
    unrepeatable="cache-not-reset",
)
