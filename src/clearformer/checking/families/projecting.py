"""Slips in making queries, keys and values, in comparing them and in mixing."""

from collections.abc import Iterable
from typing import Any

from clearformer.checking.exercise import Mistake
from clearformer.checking.words import Words


def project(X: Any, W: Any, *_: Any) -> Any:
    """X W: the weights are (in, out)."""
    return X @ W


def products(Q: Any, K: Any) -> Any:
    """Each query with each key; a row is a query."""
    return Q @ K.swapaxes(-1, -2)


def mixed(weights: Any, V: Any) -> Any:
    """Each row of weights mixes the values."""
    return weights @ V


THREE = Words(
    "a token asks, is found and gives by three different views of itself.",
    "トークンは、尋ねる・見つけられる・渡す、の 3 つの役割を別々に持ちます。",
)


def turned(X: Any, W: Any, *_: Any) -> Any:
    """X Wᵀ, as where weights are (out, in)."""
    return X @ W.T


PROJECTING = (
    Mistake(
        "proj-transposed",
        {"query": turned, "key": turned, "value": turned},
        Words(
            "weights used as (out, in): X @ W.T", "重みを (出力, 入力) として使っています: X @ W.T"
        ),
        Words(
            "it only runs where weights are square, and is wrong there.",
            "正方形の重みでしか動かず、そこでも値が違います。",
        ),
        Words("which axis of W has the width of X?", "W のどの軸が X の幅と同じですか。"),
        Words(
            "multiply by W as it is: (in, out).", "W をそのまま (入力, 出力) として掛けてください。"
        ),
        "Q = X @ W_Q",
    ),
    Mistake(
        "k-from-W_Q",
        {"key": lambda X, W_K, W_Q: X @ W_Q},
        Words(
            "keys are made with W_Q; W_K is never used",
            "キーを W_Q で作っており、W_K が使われていません",
        ),
        THREE,
        Words("where in your code does W_K appear?", "コードの中で W_K はどこに出てきますか。"),
        Words("make keys with W_K.", "キーは W_K で作ってください。"),
        "K = X @ W_K",
    ),
    Mistake(
        "q-from-W_K",
        {"query": lambda X, W_Q, W_K: X @ W_K},
        Words(
            "queries are made with W_K; W_Q is never used",
            "クエリを W_K で作っており、W_Q が使われていません",
        ),
        THREE,
        Words("where in your code does W_Q appear?", "コードの中で W_Q はどこに出てきますか。"),
        Words("make queries with W_Q.", "クエリは W_Q で作ってください。"),
        "Q = X @ W_Q",
    ),
    Mistake(
        "v-from-W_K",
        {"value": lambda X, W_V, W_K: X @ W_K},
        Words(
            "values are made with W_K; W_V is never used",
            "値を W_K で作っており、W_V が使われていません",
        ),
        THREE,
        Words("where in your code does W_V appear?", "コードの中で W_V はどこに出てきますか。"),
        Words("make values with W_V.", "値は W_V で作ってください。"),
        "V = X @ W_V",
    ),
    Mistake(
        "v-unprojected",
        {"value": lambda X, W_V, W_K: X},
        Words(
            "the values are X itself; W_V is never used",
            "値が X そのままで、W_V が使われていません",
        ),
        THREE,
        Words("where in your code does W_V appear?", "コードの中で W_V はどこに出てきますか。"),
        Words("make values with W_V.", "値は W_V で作ってください。"),
        "V = X @ W_V",
    ),
    Mistake(
        "qk-swapped",
        {"products": lambda Q, K: K @ Q.swapaxes(-1, -2)},
        Words(
            "queries and keys exchanged: K @ Qᵀ, so rows are keys",
            "クエリとキーが逆です: K @ Qᵀ では行がキーになります",
        ),
        Words(
            "row t must hold what token t looks at.",
            "t 行目はトークン t が見る先でなければなりません。",
        ),
        Words(
            "is a row of your scores one query or one key?",
            "スコアの 1 行は 1 つのクエリですか、キーですか。",
        ),
        Words("put the queries first.", "クエリを先に置いてください。"),
        "scores = Q @ K.swapaxes(-1, -2)",
    ),
    Mistake(
        "scores-elementwise",
        {"products": lambda Q, K: Q * K},
        Words(
            "Q * K multiplies number by number; it is not a dot product",
            "Q * K は要素ごとの積で、内積ではありません",
        ),
        Words(
            "a score compares one query with one key as a whole.",
            "スコアはクエリとキーを全体として比べた 1 つの数です。",
        ),
        Words("what shape should the scores have?", "スコアの形は何になるはずですか。"),
        Words(
            "use the matrix product with the keys transposed.",
            "キーを転置して行列積を使ってください。",
        ),
        "scores = Q @ K.swapaxes(-1, -2)",
    ),
    Mistake(
        "weights-transposed",
        {"mixed": lambda weights, V: weights.swapaxes(-1, -2) @ V},
        Words(
            "the weights are transposed before they meet the values",
            "重みを転置してから値に掛けています",
        ),
        Words(
            "each token would get what others think of it, not what it looks at.",
            "自分が見る先ではなく、他から見られた分を受け取ることになります。",
        ),
        Words("which axis of the weights adds up to 1?", "重みはどの軸で和が 1 になりますか。"),
        Words("multiply the weights as they are.", "重みをそのまま掛けてください。"),
        "output = weights @ V",
    ),
)
"""Of any exercise with the steps `query(X, W_Q, W_K)`, `key(X, W_K, W_Q)`,
`value(X, W_V, W_K)`, `products(Q, K)` and `mixed(weights, V)`."""


def slips_in(mistakes: Iterable[Mistake], *steps: str) -> tuple[Mistake, ...]:
    """Those that change no other than these steps."""
    return tuple(each for each in mistakes if set(each.change) <= set(steps))
