"""A residual block that normalises before each sub-layer."""

from typing import Any

from clearformer.checking.exercise import Exercise, Variant
from clearformer.checking.families.adding_back import block_probes, slip, unit, unnormed
from clearformer.checking.words import Words


def right(step: Any, x: Any, W_1: Any, W_2: Any) -> Any:
    """h = x + f(norm(x)); h + g(norm(h)), with f and g products with W_1 and W_2."""
    h = step.first_sum(x, step.first_norm(x), W_1)
    return step.last(step.second_sum(x, h, step.second_norm(h), W_2))


def first_sum(x: Any, normed: Any, W: Any) -> Any:
    """x and what the first sub-layer makes of norm(x)."""
    return x + normed @ W


def second_sum(x: Any, h: Any, normed: Any, W: Any) -> Any:
    """h and what the second sub-layer makes of norm(h)."""
    return h + normed @ W


CODE = "h = x + norm(x) @ W_1; return h + norm(h) @ W_2"
ADD = Words(
    "add each sub-layer's own input to its output.",
    "各副層の出力に、その副層自身の入力を足してください。",
)
NORM = Words("normalise what goes into each sub-layer.", "各副層への入力を正規化してください。")

EXERCISE = Exercise(
    name="pre_norm_block",
    title=Words("Residual block, pre-norm", "残差ブロック (pre-norm)"),
    task=Words(
        "A block of two sub-layers, as in GPT-2: h = x + norm(x) W_1, then h + norm(h) W_2.\n"
        "norm is layer normalisation without gain and shift: (x - mean) / √(variance + 1e-5). "
        "The products stand for attention and feed-forward. x: (T, d), any batch axes before; "
        "W_1, W_2: (d, d). Returns: (T, d).",
        "GPT-2 と同じ 2 つの副層のブロック: h = x + norm(x) W_1、次に h + norm(h) W_2。\n"
        "norm は gamma も beta もない層正規化 (x - 平均) / √(分散 + 1e-5) です。"
        "積はアテンションとフィードフォワードの代わりです。\n"
        "x: (T, d)、前にバッチの軸があっても可。\n"
        "W_1, W_2: (d, d)。返り値: (T, d)。",
    ),
    right=right,
    steps={
        "first_norm": unit,
        "first_sum": first_sum,
        "second_norm": unit,
        "second_sum": second_sum,
        "last": lambda x: x,
    },
    probes=block_probes,
    batched=("x",),
    variants=(
        Variant(
            "norm-placement",
            {
                "first_norm": lambda x: x,
                "first_sum": lambda x, normed, W: unit(x + normed @ W),
                "second_norm": lambda h: h,
                "second_sum": lambda x, h, normed, W: unit(h + normed @ W),
            },
            Words(
                "this is post-norm, norm(x + f(x)), as in the paper of 2017; here it is pre-norm",
                "2017 年の論文の post-norm です: norm(x + f(x))。ここで求めるのは pre-norm です",
            ),
        ),
        Variant(
            "norm-at-the-end",
            {"last": unit},
            Words(
                "a norm stands behind the block, as behind the last one of GPT-2",
                "GPT-2 の最後のブロックのように、後ろに norm があります",
            ),
        ),
    ),
    mistakes=(
        slip(
            "residual-missing",
            {
                "first_sum": lambda x, normed, W: normed @ W,
                "second_sum": lambda x, h, normed, W: normed @ W,
            },
            "x is not added back to the sub-layers",
            "副層の出力に x が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-missing",
            {"first_sum": lambda x, normed, W: normed @ W},
            "x is not added back to the first sub-layer",
            "1 つ目の副層に x が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-missing",
            {"second_sum": lambda x, h, normed, W: normed @ W},
            "h is not added back to the second sub-layer",
            "2 つ目の副層に h が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-doubled",
            {
                "first_sum": lambda x, normed, W: x + x + normed @ W,
                "second_sum": lambda x, h, normed, W: h + h + normed @ W,
            },
            "the input is added twice: 2x + f(x)",
            "入力を 2 回足しています: 2x + f(x)",
            ADD,
            CODE,
        ),
        slip(
            "residual-doubled",
            {
                "first_sum": lambda x, normed, W: 2 * (normed @ W),
                "second_sum": lambda x, h, normed, W: 2 * (normed @ W),
            },
            "the sub-layer's output is added to itself, and x is lost",
            "副層の出力に出力自身を足し、x が失われています",
            ADD,
            CODE,
        ),
        slip(
            "residual-source",
            {"second_sum": lambda x, h, normed, W: x + normed @ W},
            "the second sum adds the block's input x, not h",
            "2 つ目の和で h ではなく、ブロックの入力 x を足しています",
            ADD,
            CODE,
        ),
        slip(
            "residual-normed",
            {
                "first_sum": lambda x, normed, W: normed + normed @ W,
                "second_sum": lambda x, h, normed, W: normed + normed @ W,
            },
            "norm(x) is added back instead of x: the way past the sub-layer goes through the norm",
            "x ではなく norm(x) を足しています。横を通る道が norm を通っています",
            ADD,
            CODE,
        ),
        slip(
            "residual-normed",
            {"first_sum": lambda x, normed, W: normed + normed @ W},
            "the first sum adds norm(x) instead of x",
            "1 つ目の和で x ではなく norm(x) を足しています",
            ADD,
            CODE,
        ),
        slip(
            "residual-normed",
            {"second_sum": lambda x, h, normed, W: normed + normed @ W},
            "the second sum adds norm(h) instead of h",
            "2 つ目の和で h ではなく norm(h) を足しています",
            ADD,
            CODE,
        ),
        unnormed(
            {"first_norm": lambda x: x, "second_norm": lambda h: h},
            "nothing is normalised",
            "正規化がありません",
            NORM,
            CODE,
        ),
        unnormed(
            {"second_norm": lambda h: h},
            "the second sub-layer gets h without the norm",
            "2 つ目の副層に正規化していない h が入っています",
            NORM,
            CODE,
        ),
        unnormed(
            {"first_norm": lambda x: x},
            "the first sub-layer gets x without the norm",
            "1 つ目の副層に正規化していない x が入っています",
            NORM,
            CODE,
        ),
    ),
)
