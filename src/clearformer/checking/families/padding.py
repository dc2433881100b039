"""Slips in hiding padding: the steps `hidden(scores, lengths, K, V)` and `empty`.

Tables are (B, H, …): texts, heads. The right `empty(weights, lengths, scores)` sets the weights of
a text without tokens to 0.
"""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Mistake
from clearformer.checking.families.masking import covering, filling, future
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.words import Words


def padding(scores: Any, lengths: Any, *_: Any) -> Any:
    """True on the keys behind the end of their text: (B, 1, 1, S)."""
    return np.arange(scores.shape[-1]) >= each_text(lengths)


def hidden(scores: Any, lengths: Any, *_: Any) -> Any:
    """-inf on the keys that are padding."""
    return np.where(padding(scores, lengths), -np.inf, scores)


def emptied(weights: Any, lengths: Any, scores: Any) -> Any:
    """No weight at all where a text has no token."""
    return np.where(each_text(lengths) == 0, 0.0, weights)


def each_text(lengths: Any) -> Any:
    """One length for each text, laid over heads, queries and keys."""
    return np.asarray(lengths)[:, None, None, None]


NOISE = Words(
    "the same text would give other results with more padding behind it.",
    "同じ文でも、後ろのパディングの長さで結果が変わってしまいます。",
)
HIDE = Words(
    "put −inf on every key from lengths[b] on, for all heads and queries.",
    "すべてのヘッドとクエリで、lengths[b] 以降のキーに −inf を入れてください。",
)
LINE = "np.where(np.arange(S) < lengths[:, None, None, None], scores, -np.inf)"
MOVES = Words(
    "if a number in the padding changes, which results may move?",
    "パディングの値を変えたとき、動いてよい結果はどれですか。",
)
SHAPE = Words(
    "which of the four axes (B, H, T, S) does the length belong to?",
    "長さは 4 つの軸 (B, H, T, S) のどれに関わりますか。",
)


def _slips(
    key: str, covered: Any, found: Words, why: Words = NOISE, ask: Words = MOVES
) -> tuple[Mistake, ...]:
    """One for each way to hide, as they differ where a row is left nothing to see."""
    return tuple(
        Mistake(key, {"hidden": step}, found, why, ask, HIDE, LINE) for step in covering(covered)
    )


def _rows(scores: Any, lengths: Any, *_: Any) -> Any:
    """True on the queries from the length on."""
    return np.broadcast_to(np.arange(scores.shape[-2])[:, None] >= each_text(lengths), scores.shape)


def _other_order(scores: Any, lengths: Any, *_: Any) -> Any:
    """Lengths laid over batch and heads as np.tile does where np.repeat is due."""
    B, H = scores.shape[:2]
    return np.arange(scores.shape[-1]) >= np.tile(lengths, H).reshape(B, H)[..., None, None]


def _square(scores: Any, lengths: Any, *_: Any) -> Any:
    """As many places as there are queries."""
    return np.arange(scores.shape[-2]) >= each_text(lengths)


NO_SUM = Words(
    "padding is guessed from the values, not taken from lengths",
    "lengths を使わず、値からパディングを推測しています",
)

PADDING = (
    Mistake(
        "attn-sees-padding",
        {"hidden": lambda scores, *_: scores},
        Words(
            "the padding is not hidden: lengths never reach the scores",
            "パディングが隠れておらず、lengths がスコアに効いていません",
        ),
        NOISE,
        MOVES,
        HIDE,
        LINE,
    ),
    *_slips(
        "pad-masks-queries",
        _rows,
        Words(
            "the mask lies on the rows (queries); it belongs on the columns (keys)",
            "マスクが行 (クエリ) にかかっています。列 (キー) にかけます",
        ),
        ask=SHAPE,
    )[:2],  # one number added to a whole row hides nothing
    *_slips(
        "pad-masks-both",
        lambda scores, *told: padding(scores, *told) | _rows(scores, *told),
        Words(
            "queries are hidden as well as keys; lengths are those of the keys",
            "キーだけでなくクエリも隠しています。lengths はキーの長さです",
        ),
        Words(
            "a hidden query has nothing to look at: NaN, or all places alike.",
            "隠したクエリには見るものがなく、NaN かすべて同じ重みになります。",
        ),
        SHAPE,
    ),
    _slips(
        "pad-and-future",
        lambda scores, *told: padding(scores, *told) | future(scores),
        Words(
            "a causal mask hides the future as well; here only the padding is hidden",
            "因果マスクで未来まで隠しています。ここで隠すのはパディングだけです",
        ),
        Words("part of the text is never seen.", "文の一部が見えません。"),
        Words("which keys may the first query see?", "最初のクエリはどのキーを見てよいですか。"),
    )[0],
    *_slips(
        "mask-inverted",
        lambda scores, *told: ~padding(scores, *told),
        Words(
            "the mask's meaning is turned round: the real tokens are hidden",
            "マスクの意味が逆で、本物のトークンを隠しています",
        ),
        ask=Words("does True in your mask mean keep or hide?", "True は残す印ですか。"),
    ),
    *_slips(
        "mask-head-order",
        _other_order,
        Words(
            "lengths are repeated in another order than texts and heads are laid out",
            "lengths の繰り返しの順が、文とヘッドの並びと違います",
        ),
        Words(
            "with several texts and heads, some heads get another text's length.",
            "文とヘッドが複数のとき、一部のヘッドが別の文の長さを使います。",
        ),
        Words(
            "which length does head 1 of text 0 get?", "文 0 のヘッド 1 はどの長さを使いますか。"
        ),
    )[:1],
    *_slips(
        "mask-square",
        _square,
        Words(
            "the mask is as long as the queries; it has to be as long as the keys",
            "マスクの長さがクエリの数です。キーの数にします",
        ),
        Words(
            "it only runs where there are as many queries as keys, or one.",
            "クエリとキーが同じ数か、クエリが 1 つのときしか動きません。",
        ),
        Words("how many queries are there, how many keys?", "クエリとキーはいくつですか。"),
    )[:1],
    *(
        _slips("pad-from-values", covered, NO_SUM, Words(
            "a real token may be all zeros, and padding may be anything.",
            "本物のトークンがすべて 0 のことも、パディングが 0 でないこともあります。",
        ), Words("where in your code does lengths appear?", "lengths はどこに出てきますか。"))[0]
        for covered in (
            lambda scores, lengths, K, V: np.isclose(K.sum(-1), 0)[..., None, :],
            lambda scores, lengths, K, V: (K == 0).all(-1)[..., None, :],
            lambda scores, lengths, K, V: np.isclose(V.sum(-1), 0)[..., None, :],
            lambda scores, lengths, K, V: np.isclose(scores, 0),
        )
    ),
    *(
        _slips("pad-one-length", covered, Words(
            "one length is used for all texts", "すべての文に 1 つの長さを使っています",
        ), ask=Words("does each text get its own length?", "文ごとの長さを使っていますか。"))[0]
        for covered in (
            lambda scores, lengths, *_: padding(scores, np.full(len(lengths), lengths.max())),
            lambda scores, lengths, *_: padding(scores, np.full(len(lengths), lengths.min())),
            lambda scores, lengths, *_: padding(scores, np.full(len(lengths), lengths[0])),
        )
    ),
    _slips(
        "pad-one-late",
        lambda scores, lengths, *_: padding(scores, lengths + 1),
        Words("the first place of the padding is seen", "パディングの最初の場所が見えています"),
        ask=Words("which is the last real place?", "本物の最後の場所は何番目ですか。"),
    )[0],
    _slips(
        "pad-one-early",
        lambda scores, lengths, *_: padding(scores, lengths - 1),
        Words("the last real token is hidden, too", "本物の最後のトークンまで隠しています"),
        Words("its information is lost.", "その情報が失われます。"),
        Words("which is the last real place?", "本物の最後の場所は何番目ですか。"),
    )[0],
)  # fmt: skip


def _empty(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(
        key,
        {"empty": step},
        found,
        Words(
            "one empty text makes NaN, or padding, of what is averaged with it.",
            "空の文が 1 つあると、それを含めた平均まで NaN などになります。",
        ),
        Words(
            "what is softmax of a row where everything is −inf?",
            "すべて −inf の行の softmax は何ですか。",
        ),
        Words(
            "set the output of a text of length 0 to 0.", "長さ 0 の文の出力を 0 にしてください。"
        ),
        "np.where(lengths[:, None, None, None] == 0, 0.0, weights)",
        beside=True,
    )


FILLING = filling(padding, NOISE, HIDE, LINE)
"""Of what is put in the hidden places."""

EMPTY = (
    _empty(
        "mask-row-nan",
        lambda weights, lengths, scores: weights,
        Words("softmax over a row that is all −inf: NaN", "すべて −inf の行の softmax が NaN です"),
    ),
    _empty(
        "mask-row-uniform",
        lambda weights, lengths, scores: np.where(
            each_text(lengths) == 0, 1 / scores.shape[-1], weights
        ),
        Words(
            "where all is hidden, the padding is looked at, all places alike",
            "すべて隠した行で、パディングを均等に見ています",
        ),
    ),
    _empty(
        "mask-row-unhidden",
        lambda weights, lengths, scores: np.where(
            each_text(lengths) == 0, softmax(scores), weights
        ),
        Words(
            "where all is hidden by adding one number, it hides nothing",
            "同じ数を足してすべてを隠した行では、何も隠れていません",
        ),
    ),
)
