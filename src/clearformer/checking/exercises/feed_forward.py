"""The feed-forward layer: up, GELU, down."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families import modules
from clearformer.checking.families.activating import ACTIVATING, BRACKETS, TANH, gelu, relu
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, W_1: Any, b_1: Any, W_2: Any, b_2: Any) -> Any:
    """GELU(x W_1 + b_1) W_2 + b_2, for each token by itself."""
    hidden = step.first_shift(step.up(x, W_1), b_1)
    return step.activated_last(step.second_shift(step.down(step.activated(hidden), W_2), b_2))


def _given(seed: int, T: int, d: int, hidden: int, size: float = 1.0) -> dict[str, Any]:
    return {
        "x": normal(seed, T, d, scale=size),
        "W_1": normal(seed + 1, d, hidden, scale=0.6),
        "b_1": normal(seed + 2, hidden, scale=0.5),
        "W_2": normal(seed + 3, hidden, d, scale=0.5),
        "b_2": normal(seed + 4, d),
    }


def probes() -> Sequence[Probe]:
    """Hidden layers wider than the model, as wide, and narrower; numbers beyond 6 in one."""
    return (
        Probe("4 tokens", _given(161, 4, 3, 7)),
        Probe("5 tokens", _given(171, 5, 6, 8)),
        Probe("square", _given(181, 4, 4, 4)),
        Probe("narrow", _given(191, 3, 6, 5)),
        Probe("large numbers", _given(196, 5, 4, 6, 8.0)),
    )


FLAT = Words(
    "without an activation in between, two layers are no more than one.",
    "間に活性化がなければ、2 つの層は 1 つの層と同じです。",
)
ORDER = Words("in which order do layers and activation come?", "層と活性化はどの順に並びますか。")
BEND = Words(
    "apply GELU between the two layers only.", "GELU は 2 つの層の間だけに使ってください。"
)
BIAS = Words("the layer cannot shift what it passes on.", "層が値をずらせなくなります。")
CODE = "gelu(x @ W_1 + b_1) @ W_2 + b_2"
USED = Words("is every argument used?", "すべての引数を使っていますか。")
ADD = Words("add the bias after the product.", "積の後にバイアスを足してください。")

EXERCISE = Exercise(
    name="feed_forward",
    title=Words("Feed-forward layer", "フィードフォワード層"),
    task=Words(
        "For each token by itself: GELU(x W_1 + b_1) W_2 + b_2, with the exact GELU "
        "x · (1 + erf(x/√2)) / 2. x: (T, d), with any batch axes before it or none.\n"
        "W_1: (d, hidden), b_1: (hidden,), W_2: (hidden, d), b_2: (d,). Returns: (T, d).\n"
        "Nothing is added back: the residual connection comes outside.",
        "トークンごとに GELU(x W_1 + b_1) W_2 + b_2。GELU は厳密な形 x · (1 + erf(x/√2)) / 2。\n"
        "x: (T, d)、前にバッチの軸があっても可。W_1: (d, hidden)、b_1: (hidden,)、"
        "W_2: (hidden, d)、b_2: (d,)。返り値: (T, d)。"
        "残差は足しません (この層の外で足します)。",
    ),
    right=right,
    steps={
        "up": lambda x, W_1: x @ W_1,
        "first_shift": lambda hidden, b_1: hidden + b_1,
        "activated": gelu,
        "down": lambda activated, W_2: activated @ W_2,
        "second_shift": lambda output, b_2: output + b_2,
        "activated_last": lambda output: output,
    },
    probes=probes,
    module=modules.FEED_FORWARD,
    batched=("x",),
    variants=(TANH,),
    mistakes=(
        *(replace(each, evidence=None) for each in (*ACTIVATING, *BRACKETS)),
        Mistake(
            "activation-last",
            {"activated": lambda x: x, "activated_last": gelu},
            Words(
                "GELU comes at the end instead of between the layers",
                "GELU が層の間ではなく最後にあります",
            ),
            FLAT,
            ORDER,
            BEND,
            CODE,
        ),
        Mistake(
            "activation-last",
            {"activated": lambda x: x, "activated_last": relu},
            Words(
                "ReLU comes at the end instead of GELU between the layers",
                "GELU が層の間になく、最後に ReLU があります",
            ),
            FLAT,
            ORDER,
            BEND,
            CODE,
        ),
        Mistake(
            "activation-twice",
            {"activated_last": gelu},
            Words("GELU is applied again at the end", "最後にもう一度 GELU をかけています"),
            Words(
                "what the block adds to x would hardly ever be below 0.",
                "ブロックが x に足す値がほとんど負にならなくなります。",
            ),
            ORDER,
            BEND,
            CODE,
        ),
        Mistake(
            "ff-no-b_1",
            {"first_shift": lambda hidden, b_1: hidden},
            Words("b_1 is never used", "b_1 が使われていません"),
            BIAS,
            USED,
            ADD,
            CODE,
        ),
        Mistake(
            "ff-no-b_2",
            {"second_shift": lambda output, b_2: output},
            Words("b_2 is never used", "b_2 が使われていません"),
            BIAS,
            USED,
            ADD,
            CODE,
        ),
        Mistake(
            "ff-b_1-after-activation",
            {
                "first_shift": lambda hidden, b_1: (hidden, b_1),
                "activated": lambda parts: gelu(parts[0]) + parts[1],
            },
            Words(
                "b_1 is added after GELU instead of before",
                "b_1 を GELU の前ではなく後で足しています",
            ),
            Words(
                "the bias decides where GELU sets in.",
                "バイアスは GELU が効き始める場所を決めます。",
            ),
            ORDER,
            ADD,
            CODE,
        ),
        Mistake(
            "proj-transposed",
            {"up": lambda x, W_1: x @ W_1.T, "down": lambda activated, W_2: activated @ W_2.T},
            Words(
                "weights used as (out, in): x @ W.T",
                "重みを (出力, 入力) として使っています: x @ W.T",
            ),
            Words("it only runs where weights are square.", "正方形の重みでしか動きません。"),
            Words("which axis of W_1 has the width of x?", "W_1 のどの軸が x の幅と同じですか。"),
            Words(
                "multiply by W as it is: (in, out).",
                "W をそのまま (入力, 出力) として掛けてください。",
            ),
            CODE,
        ),
        Mistake(
            "ff-residual",
            {
                "up": lambda x, W_1: (x, x @ W_1),
                "first_shift": lambda parts, b_1: (parts[0], parts[1] + b_1),
                "activated": lambda parts: (parts[0], gelu(parts[1])),
                "down": lambda parts, W_2: parts[0] + parts[1] @ W_2,
            },
            Words(
                "x is added back here already; the block does that",
                "ここで x を足していますが、それはブロックの役目です",
            ),
            Words("x would be counted twice.", "x が 2 回数えられます。"),
            Words(
                "what does the layer give where all weights are 0?",
                "重みがすべて 0 なら出力は何ですか。",
            ),
            Words("return the layer's output alone.", "層の出力だけを返してください。"),
            CODE,
        ),
    ),
)
