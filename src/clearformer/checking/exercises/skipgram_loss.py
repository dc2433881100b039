"""The loss of skip-gram with negative sampling, for one pair of words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step, Variant
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, center: Any, context: Any, negatives: Any, W_in: Any, W_out: Any) -> Any:
    """-log σ(u_context · v) - Σ log σ(-u_negative · v)."""
    v = step.inner(W_in, W_out, center)
    positive = step.outer(W_in, W_out, context) @ v
    others = step.outer(W_in, W_out, step.drawn(np.asarray(negatives), context)) @ v
    return step.summed(step.pulled(positive), step.pushed(others))


def log_sigmoid(x: Any) -> Any:
    """log(1 / (1 + exp(-x))), without overflow."""
    return -np.logaddexp(0, -x)


def _given(seed: int, vocab: int, d: int, center: int, context: int, drawn: list[int]) -> Any:
    return {
        "center": center,
        "context": context,
        "negatives": np.array(drawn),
        "W_in": normal(seed, vocab, d, scale=0.9),
        "W_out": normal(seed + 1, vocab, d, scale=0.9),
    }


def probes() -> Sequence[Probe]:
    """Negatives with products above and below 0, one drawn twice."""
    return (
        Probe("5 negatives", _given(701, 8, 4, 2, 5, [0, 7, 3, 3, 1])),
        Probe("3 negatives", _given(711, 6, 5, 0, 4, [5, 1, 2])),
        Probe("as many words as wide", _given(721, 4, 4, 3, 0, [1, 2, 1])),
        Probe("4 negatives", _given(731, 9, 3, 8, 1, [2, 6, 0, 4])),
        Probe("7 negatives", _given(741, 9, 6, 4, 3, [2, 6, 0, 5, 7, 8, 1])),
        Probe(
            "products of 1,000",
            {
                **_given(751, 5, 4, 1, 2, [0, 3, 4]),
                "W_in": normal(752, 5, 4, scale=30.0),
                "W_out": normal(753, 5, 4, scale=30.0),
            },
            role="stress",
            says=Words("products of 1,000", "1,000 ほどの内積"),
        ),
    )


PULL = Words(
    "the true neighbour is pulled towards the word, drawn ones are pushed away.",
    "本物の隣の語は引き寄せ、抽選した語は遠ざけます。",
)
ASK = Words(
    "should the loss fall or rise when u_negative · v grows?",
    "u_negative · v が増えると損失は増えますか、減りますか。",
)
FORMULA = Words(
    "-log σ(u_context · v) - Σ log σ(-u_negative · v), summed.",
    "-log σ(u_context · v) - Σ log σ(-u_negative · v) の和です。",
)
CODE = "-log_sigmoid(W_out[context] @ v) - log_sigmoid(-W_out[negatives] @ v).sum()"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str) -> Mistake:
    return Mistake(key, change, Words(en, ja), PULL, ASK, FORMULA, CODE)


EXERCISE = Exercise(
    name="skipgram_loss",
    title=Words("Loss of skip-gram", "skip-gram の損失"),
    task=Words(
        "Skip-gram with negative sampling (Mikolov et al., 2013), for one pair of words:\n"
        "-log σ(u_context · v) - Σ over negatives of log σ(-u_negative · v), summed, in nats; "
        "v is the row of W_in of the center, u are rows of W_out. center, context: whole numbers; "
        "negatives: (k,); W_in, W_out: (vocab, d). Returns: one number.",
        "負例サンプリング付き skip-gram (Mikolov ほか 2013) の、1 組の語についての損失:\n"
        "-log σ(u_context · v) - Σ log σ(-u_negative · v)。負例について足し、単位は nat。"
        "v は W_in の center の行、u は W_out の行。center, context: 整数、negatives: (k,)、"
        "W_in, W_out: (語彙, d)。返り値: 数 1 つ。",
    ),
    right=right,
    steps={
        "inner": lambda W_in, W_out, center: W_in[center],
        "outer": lambda W_in, W_out, ids: W_out[ids],
        "drawn": lambda negatives, context: negatives,
        "pulled": lambda product: -log_sigmoid(product),
        "pushed": lambda products: -log_sigmoid(-products),
        "summed": lambda pulled, pushed: pulled + pushed.sum(),
    },
    probes=probes,
    variants=(
        Variant(
            "sgns-mean",
            {"summed": lambda pulled, pushed: pulled + pushed.mean()},
            Words(
                "the negatives are averaged; here they are summed, as in the paper",
                "負例を平均しています。ここでは論文のとおり足します",
            ),
        ),
    ),
    mistakes=(
        _slip(
            "sgns-negative-sign",
            {"pushed": lambda products: -log_sigmoid(products)},
            "the negatives are pulled closer, too: log σ(u·v), expected log σ(−u·v)",
            "負例まで引き寄せています: log σ(u·v) ではなく log σ(−u·v)",
        ),
        _slip(
            "sgns-one-table",
            {"outer": lambda W_in, W_out, ids: W_in[ids]},
            "only W_in is used: context words have a table of their own, W_out",
            "W_in だけを使っています。文脈の語は W_out から取ります",
        ),
        _slip(
            "sgns-tables-swapped",
            {
                "inner": lambda W_in, W_out, center: W_out[center],
                "outer": lambda W_in, W_out, ids: W_in[ids],
            },
            "W_in and W_out are exchanged",
            "W_in と W_out が入れ替わっています",
        ),
        _slip(
            "sgns-pos-in-neg",
            {"drawn": np.append},
            "the true neighbour is among the negatives, too",
            "本物の隣の語が負例にも入っています",
        ),
        _slip(
            "sgns-no-negatives",
            {"summed": lambda pulled, pushed: pulled},
            "the negatives are left out: everything could be pulled together",
            "負例がありません。すべてを引き寄せれば損失が 0 になります",
        ),
        _slip(
            "sgns-no-positive",
            {"summed": lambda pulled, pushed: pushed.sum()},
            "the true pair is left out",
            "本物の組がありません",
        ),
        _slip(
            "minus-power",
            {
                "pushed": lambda products: -log_sigmoid(products),
                "pulled": lambda product: -log_sigmoid(-product),
            },
            "the signs are exchanged: the true pair is pushed away, drawn ones are pulled",
            "符号が逆です。本物の組を遠ざけ、抽選した語を引き寄せています",
        ),
        _slip(
            "sgns-sign",
            {"summed": lambda pulled, pushed: -(pulled + pushed.sum())},
            "the sign of the whole is wrong: a loss must fall when the fit is better",
            "全体の符号が逆です。損失は当たるほど小さくなります",
        ),
        _slip(
            "sgns-no-log",
            {
                "pulled": lambda product: -np.exp(log_sigmoid(product)),
                "pushed": lambda products: -np.exp(log_sigmoid(-products)),
            },
            "the logarithm is missing: −σ(x), expected −log σ(x)",
            "対数がありません: −σ(x) ではなく −log σ(x)",
        ),
        _slip(
            "sgns-one-minus-log",
            {"pushed": lambda products: -(1 - log_sigmoid(products))},
            "1 − log σ(x) is not log(1 − σ(x))",
            "1 − log σ(x) と log(1 − σ(x)) は違います",
        ),
        _slip(
            "sgns-mean-of-all",
            {"summed": lambda pulled, pushed: (pulled + pushed.sum()) / (1 + len(pushed))},
            "divided by the number of terms; here they are summed",
            "項の数で割っています。ここでは足すだけです",
        ),
        Mistake(
            "sgns-overflow",
            {
                "pulled": lambda product: -np.log(1 / (1 + np.exp(-product))),
                "pushed": lambda products: -np.log(1 / (1 + np.exp(products))),
            },
            Words(
                "log of a sigmoid that has become 0: infinite for products beyond 709",
                "0 になったシグモイドの対数です。内積が 709 を超えると無限大になります",
            ),
            Words(
                "one confident mistake makes the loss infinite.",
                "自信のある誤り 1 つで損失が無限大になります。",
            ),
            Words("what is log(σ(−1000))?", "log(σ(−1000)) はいくつですか。"),
            Words(
                "use −log(1 + exp(−x)) by logaddexp.",
                "logaddexp で −log(1 + exp(−x)) を使ってください。",
            ),
            "-np.logaddexp(0, -x)",
            beside=True,
        ),
    ),
)
