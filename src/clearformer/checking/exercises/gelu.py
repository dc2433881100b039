"""The activation GELU, exact."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.families.activating import ACTIVATING, BRACKETS, TANH, gelu
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any) -> Any:
    """x · Φ(x)."""
    return step.activated(x)


def probes() -> Sequence[Probe]:
    """From −4 to 4, and tables of several shapes."""
    return (
        Probe("−4 to 4", {"x": np.arange(-4, 4.25, 0.25)}),
        Probe("3 rows of 4", {"x": normal(151, 3, 4, scale=1.5)}),
        Probe("a batch", {"x": normal(152, 2, 3, 5, scale=2.0)}),
        Probe("beyond 6", {"x": np.array([-9.0, -7.0, 6.5, 8.0, 20.0])}),
        Probe("near 0", {"x": np.array([-0.2, -0.05, 0.0, 0.1, 0.3])}),
        Probe(
            "large x",
            {"x": np.array([-1000.0, -40.0, 40.0, 1000.0])},
            role="stress",
            says=Words("x of ±1,000", "±1,000 の x"),
        ),
    )


EXERCISE = Exercise(
    name="gelu",
    title=Words("GELU", "GELU"),
    task=Words(
        "x · Φ(x), number by number, where Φ(x) = (1 + erf(x/√2)) / 2 is the share of a normal "
        "distribution below x (Hendrycks and Gimpel, 2016). The exact form, not tanh.\n"
        "x: any shape. Returns: the same shape. math.erf takes one number at a time.",
        "要素ごとに x · Φ(x)。Φ(x) = (1 + erf(x/√2)) / 2 は標準正規分布で x より下の割合です "
        "(Hendrycks と Gimpel 2016)。tanh の近似ではなく厳密な形です。\n"
        "x: 任意の形。返り値: 同じ形。math.erf は数を 1 つずつ受け取ります。",
    ),
    right=right,
    steps={"activated": gelu},
    probes=probes,
    variants=(TANH,),
    mistakes=(*ACTIVATING, *BRACKETS),
)
