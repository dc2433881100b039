"""A residual block that normalises after each sum."""

from typing import Any

from clearformer.checking.exercise import Exercise, Variant
from clearformer.checking.families.adding_back import block_probes, slip, unit, unnormed
from clearformer.checking.words import Words


def right(step: Any, x: Any, W_1: Any, W_2: Any) -> Any:
    """h = norm(x + f(x)); norm(h + g(h)), with f and g products with W_1 and W_2."""
    h = step.first_norm(x, step.first_sum(x, W_1))
    return step.second_norm(h, step.second_sum(x, h, W_2))


def added(x: Any, W: Any) -> Any:
    """x and what the sub-layer makes of it."""
    return x + x @ W


CODE = "h = norm(x + x @ W_1); return norm(h + h @ W_2)"
ADD = Words(
    "add each sub-layer's own input to its output.",
    "各副層の出力に、その副層自身の入力を足してください。",
)
AFTER = Words("normalise each sum as a whole.", "それぞれの和の全体を正規化してください。")

EXERCISE = Exercise(
    name="post_norm_block",
    title=Words("Residual block, post-norm", "残差ブロック (post-norm)"),
    task=Words(
        "A block of two sub-layers, as in the paper of 2017: h = norm(x + x W_1), then "
        "norm(h + h W_2). norm is layer normalisation without gain and shift:\n"
        "(x - mean) / √(variance + 1e-5). x: (T, d), any batch axes before; W_1, W_2: (d, d).\n"
        "Returns: (T, d).",
        "2017 年の論文と同じ 2 つの副層のブロック: h = norm(x + x W_1)、次に norm(h + h W_2)。\n"
        "norm は gamma も beta もない層正規化 (x - 平均) / √(分散 + 1e-5) です。\n"
        "x: (T, d)、前にバッチの軸があっても可。W_1, W_2: (d, d)。返り値: (T, d)。",
    ),
    right=right,
    steps={
        "first_sum": added,
        "first_norm": lambda x, summed: unit(summed),
        "second_sum": lambda x, h, W: added(h, W),
        "second_norm": lambda h, summed: unit(summed),
    },
    probes=block_probes,
    batched=("x",),
    variants=(
        Variant(
            "norm-placement",
            {
                "first_sum": lambda x, W: x + unit(x) @ W,
                "first_norm": lambda x, summed: summed,
                "second_sum": lambda x, h, W: h + unit(h) @ W,
                "second_norm": lambda h, summed: summed,
            },
            Words(
                "this is pre-norm, as in GPT-2: x + f(norm(x)); here post-norm is asked",
                "GPT-2 の pre-norm です: x + f(norm(x))。ここで求めるのは post-norm です",
            ),
        ),
    ),
    mistakes=(
        slip(
            "residual-missing",
            {"first_sum": lambda x, W: x @ W, "second_sum": lambda x, h, W: h @ W},
            "x is not added back to the sub-layers",
            "副層の出力に x が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-missing",
            {"second_sum": lambda x, h, W: h @ W},
            "h is not added back to the second sub-layer",
            "2 つ目の副層に h が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-missing",
            {"first_sum": lambda x, W: x @ W},
            "x is not added back to the first sub-layer",
            "1 つ目の副層に x が足されていません",
            ADD,
            CODE,
        ),
        slip(
            "residual-source",
            {"second_sum": lambda x, h, W: x + h @ W},
            "the second sum adds the block's input x, not h",
            "2 つ目の和で h ではなく、ブロックの入力 x を足しています",
            ADD,
            CODE,
        ),
        slip(
            "residual-normed",
            {
                "first_sum": lambda x, W: unit(x) + x @ W,
                "second_sum": lambda x, h, W: unit(h) + h @ W,
            },
            "norm(x) is added back instead of x",
            "x ではなく norm(x) を足しています",
            ADD,
            CODE,
        ),
        slip(
            "norm-of-sublayer",
            {
                "first_sum": lambda x, W: x @ W,
                "first_norm": lambda x, summed: x + unit(summed),
                "second_sum": lambda x, h, W: h @ W,
                "second_norm": lambda h, summed: h + unit(summed),
            },
            "only the sub-layer's output is normalised, before x is added",
            "x を足す前の副層の出力だけを正規化しています",
            AFTER,
            CODE,
        ),
        unnormed(
            {"first_norm": lambda x, summed: summed, "second_norm": lambda h, summed: summed},
            "nothing is normalised",
            "正規化がありません",
            AFTER,
            CODE,
        ),
        unnormed(
            {"second_norm": lambda h, summed: summed},
            "the second sum is not normalised",
            "2 つ目の和が正規化されていません",
            AFTER,
            CODE,
        ),
        unnormed(
            {"first_norm": lambda x, summed: summed},
            "the first sum is not normalised",
            "1 つ目の和が正規化されていません",
            AFTER,
            CODE,
        ),
    ),
)
