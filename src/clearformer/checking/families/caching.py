"""Slips in keeping keys and values: the steps `joined`, `seen` and `stored`, for K and V alike.

joined(old, new) puts the new rows behind the old ones; seen(old, new, all) is what is looked at;
stored(old, all) is what is kept for the next token.
"""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Mistake
from clearformer.checking.families.masking import future
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.words import Words


def joined(old: Any, new: Any) -> Any:
    """New rows behind the old ones."""
    return np.concatenate([old, new], -2)


def everything(old: Any, new: Any, all_: Any) -> Any:
    """What was cached and what is new are looked at."""
    return all_


def stored(old: Any, all_: Any) -> Any:
    """All of it is kept."""
    return all_


def as_dict(K: Any, V: Any) -> Any:
    """The cache as it is handed on."""
    return {"K": K, "V": V}


def prefill_mask(scores: Any) -> Any:
    """-inf on what comes after a new token; the last of them stands at the last key."""
    new, keys = scores.shape[-2:]
    return np.where(future(scores, keys - new + 1), -np.inf, scores)


FULL = Words(
    "with the cache each token must come out as in one pass over the whole text.",
    "キャッシュを使っても、文全体を一度に計算した結果と同じでなければなりません。",
)
NEXT = Words(
    "the next token looks at what you hand back: it must be all there, in order.",
    "次のトークンは返したキャッシュを見ます。すべてが順番どおり必要です。",
)
APPEND = Words(
    "append the new key and value first, look at all, hand all of it back.",
    "まず新しいキーと値を追加し、全体を見て、全体を返してください。",
)
LINE = 'K = np.concatenate([cache["K"], k], axis=-2)'
HOW_LONG = Words(
    "how many rows has the cache before and after the call?",
    "呼び出しの前と後で、キャッシュは何行ですか。",
)
ITSELF = Words(
    "may a token look at itself? How many keys does it see?",
    "トークンは自分自身を見てよいですか。キーはいくつ見えますか。",
)


def _slip(key: str, change: Any, found: Words, why: Words, ask: Words = HOW_LONG) -> Mistake:
    return Mistake(key, change, found, why, ask, APPEND, LINE)


def _nothing_there(scores: Any) -> Any:
    return softmax(scores) if scores.shape[-1] else scores


def _before(old: Any, new: Any, all_: Any) -> Any:
    return old


def _before_if_any(old: Any, new: Any, all_: Any) -> Any:
    return old if len(old) else all_


BEFORE_APPEND = tuple(
    _slip(
        "kv-cache-attends-before-append",
        change,
        Words(
            "attention comes before the new key and value are appended: a token misses itself",
            "追加する前にアテンションを計算しており、自分自身が見えていません",
        ),
        FULL,
        ITSELF,
    )
    for change in (
        {"seen": _before},
        {"seen": _before, "weights": _nothing_there},
        {"seen": _before_if_any},
    )
)
"""They differ in what they make of an empty cache."""

CACHING = (
    *BEFORE_APPEND,
    _slip(
        "cache-unused",
        {"seen": lambda old, new, all_: new},
        Words(
            "the cache grows but is never looked at: only what is new is seen",
            "キャッシュは伸びますが使われず、新しいものしか見ていません",
        ),
        FULL,
        ITSELF,
    ),
    _slip(
        "cache-drops-last",
        {"stored": lambda old, all_: all_[:-1]},
        Words(
            "the newest key and value are missing from the cache that is returned",
            "返されたキャッシュに最新のキーと値がありません",
        ),
        NEXT,
    ),
    *(
        _slip(
            "cache-drops-last",
            {"handed_on": step},
            Words(
                "the newest key or the newest value is missing from the cache that is returned",
                "返されたキャッシュに最新のキーか値の片方がありません",
            ),
            NEXT,
        )
        for step in (lambda K, V: as_dict(K[:-1], V), lambda K, V: as_dict(K, V[:-1]))
    ),
    _slip(
        "cache-drops-last",
        {"joined": lambda old, new: joined(old[:-1], new)},
        Words(
            "the last cached key and value are lost: cut off, or written over",
            "最後のキーと値が失われています (切り取りか上書き)",
        ),
        NEXT,
    ),
    _slip(
        "cache-drops-first",
        {"joined": lambda old, new: joined(old[1:], new)},
        Words(
            "the oldest key and value are dropped: the cache never grows",
            "最も古いキーと値が捨てられ、キャッシュが伸びません",
        ),
        NEXT,
    ),
    _slip(
        "cache-drops-first",
        {"stored": lambda old, all_: all_[1:]},
        Words(
            "the oldest key and value are missing from the cache that is returned",
            "返されたキャッシュに最も古いキーと値がありません",
        ),
        NEXT,
    ),
    _slip(
        "cache-replaced",
        {"joined": lambda old, new: new},
        Words(
            "the cache is replaced by what is new; what was in it is forgotten",
            "キャッシュが新しいものに置き換わり、前の内容が失われています",
        ),
        NEXT,
    ),
    _slip(
        "cache-prepends",
        {"joined": lambda old, new: joined(new, old)},
        Words(
            "what is new was put in front of the cache, not behind it",
            "新しいものをキャッシュの後ろではなく前に入れています",
        ),
        NEXT,
        Words("in which order do the tokens stand?", "トークンはどの順に並びますか。"),
    ),
    _slip(
        "cache-kv-swapped",
        {"handed_on": lambda K, V: {"K": V, "V": K}},
        Words(
            "keys and values have changed places in the cache that is returned",
            "返されたキャッシュでキーと値が入れ替わっています",
        ),
        NEXT,
        Words('what stands under "K", what under "V"?', '"K" と "V" には何が入っていますか。'),
    ),
)
"""Of any exercise that also has the step `handed_on(K, V)`."""
