"""One step of a GRU."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step, Variant
from clearformer.checking.families import modules
from clearformer.checking.families.activating import sigmoid
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(
    step: Any, x: Any, h: Any, Wz: Any, Uz: Any, bz: Any, Wr: Any, Ur: Any, br: Any, Wn: Any,
    Un: Any, bn: Any,
) -> Any:  # fmt: skip
    """h' = (1 - z) n + z h, n = tanh(x Wn + (r h) Un + bn)."""
    z = step.update(x @ Wz + step.old(h, Uz) + step.shift(bz))
    r = step.reset(x @ Wr + step.old(h, Ur) + step.shift(br))
    n = step.bent(x @ Wn + step.remembered(r, h, Un) + step.shift(bn))
    return step.joined(z, n, h)


def _given(seed: int, d: int, n: int) -> dict[str, Any]:
    given = {"x": normal(seed, d), "h": normal(seed + 1, n)}
    for place, gate in enumerate("zrn"):
        given[f"W{gate}"] = normal(seed + 3 * place + 2, d, n, scale=0.8)
        given[f"U{gate}"] = normal(seed + 3 * place + 3, n, n, scale=0.8)
        given[f"b{gate}"] = normal(seed + 3 * place + 4, n, scale=0.6)
    return given


def probes() -> Sequence[Probe]:
    """States that are not 0, matrices that are not diagonal, resets that differ by unit."""
    return (
        Probe("4 in, 3 out", _given(501, 4, 3)),
        Probe("3 in, 5 out", _given(521, 3, 5)),
        Probe("widths alike", _given(541, 4, 4)),
        Probe("6 in, 4 out", _given(561, 6, 4)),
        Probe("5 in, 7 out", _given(581, 5, 7)),
    )


MEANS = Words(
    "z says how much of the old state stays; r how much of it the candidate sees.",
    "z は古い状態を残す割合、r は候補が古い状態を見る割合です。",
)
ASK = Words(
    "what happens to h where z is 1? Where r is 0?",
    "z が 1 のとき h はどうなりますか。r が 0 のときは。",
)
FORMULA = Words(
    "n = tanh(x Wn + (r h) Un + bn); h' = (1 - z) n + z h.",
    "n = tanh(x Wn + (r h) Un + bn)、h' = (1 - z) n + z h です。",
)
CODE = "n = np.tanh(x @ Wn + (r * h) @ Un + bn); h = (1 - z) * n + z * h"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str) -> Mistake:
    return Mistake(key, change, Words(en, ja), MEANS, ASK, FORMULA, CODE)


EXERCISE = Exercise(
    name="gru_step",
    title=Words("One step of a GRU", "GRU の 1 ステップ"),
    task=Words(
        "Cho et al. (2014): z = σ(x Wz + h Uz + bz), r = σ(x Wr + h Ur + br),\n"
        "n = tanh(x Wn + (r h) Un + bn), the reset before the product;\n"
        "h' = (1 - z) n + z h: z keeps the old state.\n"
        "x: (d,), h: (n,), W: (d, n), U: (n, n), b: (n,); any batch axes before x and h.\n"
        "Returns: h'.",
        "Cho ほか (2014): z = σ(x Wz + h Uz + bz)、r = σ(x Wr + h Ur + br)、\n"
        "n = tanh(x Wn + (r h) Un + bn)。リセットは積の前です。\n"
        "h' = (1 - z) n + z h。z が古い状態を残します。\n"
        "x: (d,)、h: (n,)、W: (d, n)、U: (n, n)、b: (n,)。x と h の前にバッチの軸があっても可。\n"
        "返り値: h'。",
    ),
    right=right,
    steps={
        "old": lambda h, U: h @ U,
        "shift": lambda b: b,
        "update": sigmoid,
        "reset": sigmoid,
        "bent": np.tanh,
        "remembered": lambda r, h, Un: (r * h) @ Un,
        "joined": lambda z, n, h: (1 - z) * n + z * h,
    },
    probes=probes,
    module=modules.GRU,
    batched=("x", "h"),
    variants=(
        Variant(
            "gru-reset-after",
            {"remembered": lambda r, h, Un: r * (h @ Un)},
            Words(
                "the reset comes after the product, as in PyTorch; the paper has it before",
                "リセットが積の後です (PyTorch と cuDNN の流儀)。論文では前です",
            ),
        ),
        Variant(
            "gru-z-swapped",
            {"joined": lambda z, n, h: z * n + (1 - z) * h},
            Words(
                "z keeps the new state here, as in some texts; expected: z keeps the old",
                "z が新しい状態を残す流儀の本もあります。ここでは z が古い状態を残します",
            ),
        ),
        Variant(
            "gru-after-and-swapped",
            {
                "remembered": lambda r, h, Un: r * (h @ Un),
                "joined": lambda z, n, h: z * n + (1 - z) * h,
            },
            Words(
                "the reset comes after the product, and z keeps the new state; here it is not so",
                "リセットが積の後で、z が新しい状態を残します。ここではどちらも逆です",
            ),
        ),
    ),
    mistakes=(
        _slip(
            "gru-no-reset",
            {"remembered": lambda r, h, Un: h @ Un},
            "r is never used: the candidate sees all of the old state",
            "r が使われず、候補が古い状態をすべて見ています",
        ),
        _slip(
            "gru-no-Un",
            {"remembered": lambda r, h, Un: r * h},
            "Un is never used: r h is added as it is",
            "Un が使われず、r h がそのまま足されています",
        ),
        _slip(
            "gru-z-for-r",
            {"reset": lambda total: 1 - sigmoid(total)},
            "the reset gate is turned round: 1 - r",
            "リセットゲートが逆です: 1 - r",
        ),
        _slip(
            "gru-candidate-sigmoid",
            {"bent": sigmoid},
            "n is a sigmoid; it must be tanh, or the state can never be negative",
            "n がシグモイドです。tanh でないと状態が負になれません",
        ),
        _slip(
            "gru-gates-tanh",
            {"update": np.tanh, "reset": np.tanh},
            "the gates are tanh; they must be sigmoids, between 0 and 1",
            "ゲートが tanh です。0 と 1 の間のシグモイドにします",
        ),
        _slip(
            "gru-no-old",
            {"joined": lambda z, n, h: (1 - z) * n},
            "the old state is not kept: z h is missing",
            "古い状態が残りません (z h がありません)",
        ),
        _slip(
            "gru-no-mix",
            {"joined": lambda z, n, h: n + z * h},
            "n + z h: the share 1 - z of n is missing",
            "n + z h です。n に 1 - z が掛かっていません",
        ),
        _slip(
            "gru-candidate-only",
            {"joined": lambda z, n, h: n},
            "the new state is n alone: z is never used",
            "新しい状態が n だけで、z が使われていません",
        ),
        _slip(
            "gru-no-bias",
            {"shift": lambda b: 0 * b},
            "the biases are never used",
            "バイアスが使われていません",
        ),
        _slip(
            "proj-transposed",
            {"old": lambda h, U: h @ U.T, "remembered": lambda r, h, Un: (r * h) @ Un.T},
            "U used the other way round: h @ U.T",
            "U の向きが逆です: h @ U.T",
        ),
    ),
)
