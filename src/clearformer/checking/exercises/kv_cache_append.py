"""A cache of keys and values, one token longer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.caching import (
    APPEND,
    CACHING,
    HOW_LONG,
    NEXT,
    as_dict,
    joined,
)
from clearformer.checking.families.projecting import slips_in
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, cache: Any, K: Any, V: Any) -> Any:
    """New keys and values behind those that are there."""
    return step.handed_on(step.joined(cache["K"], K), step.joined(cache["V"], V))


def _given(seed: int, heads: int, old: int, new: int, width: int, d_v: int) -> dict[str, Any]:
    return {
        "cache": {
            "K": normal(seed, heads, old, width),
            "V": normal(seed + 1, heads, old, d_v),
        },
        "K": normal(seed + 2, heads, new, width),
        "V": normal(seed + 3, heads, new, d_v),
    }


def probes() -> Sequence[Probe]:
    """One new token, several; as many as there are, where another axis goes unseen; none before."""
    return (
        Probe("5 tokens and one", _given(11, 3, 5, 1, 4, 6)),
        Probe("as many new as old", _given(21, 4, 3, 3, 5, 5)),
        Probe("3 tokens and 4", _given(31, 2, 3, 4, 6, 5)),
        Probe("an empty cache", _given(41, 3, 0, 4, 5, 6)),
        Probe("all sizes alike", _given(51, 3, 3, 3, 3, 3)),
    )


EXERCISE = Exercise(
    name="kv_cache_append",
    title=Words("Appending to a key–value cache", "KV キャッシュに加える"),
    task=Words(
        "Keep what attention has computed: put new keys and values behind those in the cache.\n"
        'cache: a dict, "K" of shape (H, t, d) and "V" of (H, t, d_v); t may be 0.\n'
        "K: (H, n, d), V: (H, n, d_v): those of n new tokens. Batch axes before all or none.\n"
        "Returns: a dict like cache with t + n tokens (the same one or a new one).",
        "計算したキーと値を取っておきます。新しいものをキャッシュの後ろに加えます。\n"
        'cache: dict。"K" の形は (H, t, d)、"V" は (H, t, d_v)。t は 0 のこともあります。\n'
        "K: (H, n, d)、V: (H, n, d_v): 新しい n トークンの分。前に同じバッチの軸があっても可。\n"
        "返り値: t + n トークンになった同じ形の dict (元の dict でも新しいものでも可)。",
    ),
    right=right,
    steps={"joined": joined, "handed_on": as_dict},
    probes=probes,
    mistakes=(
        *(
            Mistake(
                "cache-axis",
                {"joined": step},
                Words(
                    "joined along another axis than the tokens: heads or widths grow",
                    "トークン以外の軸でつなげており、ヘッド数や幅が増えています",
                ),
                NEXT,
                Words("which axis counts the tokens?", "トークンを数える軸はどれですか。"),
                Words(
                    "join along the axis before the last.",
                    "最後から 2 番目の軸でつなげてください。",
                ),
                "np.concatenate([old, new], axis=-2)",
            )
            for step in (
                lambda old, new: np.concatenate([old, new], 0),
                lambda old, new: np.concatenate([old, new], -3),
                lambda old, new: np.concatenate([old, new], -1),
            )
        ),
        *(
            Mistake(
                "cache-drops-last",
                {"joined": step},
                Words(
                    "one token is missing: the last one that was cached, or the newest",
                    "1 トークン足りません: 最後のものか最新のものです",
                ),
                NEXT,
                HOW_LONG,
                APPEND,
                "np.concatenate([old, new], axis=-2)",
            )
            for step in (
                lambda old, new: joined(old[..., :-1, :], new),
                lambda old, new: joined(old, new)[..., :-1, :],
            )
        ),
        Mistake(
            "cache-drops-first",
            {"joined": lambda old, new: joined(old[..., 1:, :], new)},
            Words("the oldest token is missing", "最も古いトークンがありません"),
            NEXT,
            HOW_LONG,
            APPEND,
            "np.concatenate([old, new], axis=-2)",
        ),
        *(
            each
            for each in slips_in(CACHING, "joined", "handed_on")
            if not each.key.startswith("cache-drops")
        ),
    ),
    returns=("cache",),
    batched=("cache", "K", "V"),
    may_change=("cache",),
    unrepeatable="cache-not-reset",
)
