"""Layer normalisation over the last axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.families import modules
from clearformer.checking.families.normalising import (
    GAIN_AND_SHIFT,
    SHOWN,
    SPREADING,
    mean,
    normal_rows,
)
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, gamma: Any, beta: Any, eps: Any = 1e-5) -> Any:
    """gamma · (x - mean) / √(variance + eps) + beta."""
    centred = step.centred(x)
    return step.shifted(step.gained(step.divided(centred, step.variance(x), eps), gamma), beta)


def centred(x: Any) -> Any:
    """Less the mean of its row."""
    return x - mean(x, -1)


def variance(x: Any) -> Any:
    """The mean square of what is left, in each row."""
    return mean((x - mean(x, -1)) ** 2, -1)


def divided(centred: Any, variance: Any, eps: Any) -> Any:
    """eps stands inside the root."""
    return centred / np.sqrt(variance + eps)


def _affine(seed: int, d: int) -> dict[str, Any]:
    return {"gamma": 1 + normal(seed, d, scale=0.4), "beta": normal(seed + 1, d, scale=0.7)}


def probes() -> Sequence[Probe]:
    """Narrow rows, where n and n - 1 differ; rows that hardly vary; gamma, beta not 1, 0."""
    uneven = normal(121, 4, 3) * [[1.0], [0.05], [1.0], [0.5]]
    return (
        Probe(
            SHOWN, {"x": normal(111, 3, 5, scale=2.0) + 3, "gamma": np.ones(5), "beta": np.zeros(5)}
        ),
        Probe("4 rows of 6", {"x": normal(112, 4, 6) - 1, **_affine(113, 6)}),
        Probe("5 rows of 5", {"x": normal(115, 5, 5, scale=3.0), **_affine(116, 5)}),
        Probe("rows that hardly vary", {"x": normal_rows(118, 3, 4), **_affine(119, 4)}),
        Probe("eps of 0.1", {"x": uneven, **_affine(122, 3), "eps": 0.1}),
        Probe("a batch", {"x": normal(124, 3, 4, 7), **_affine(125, 7)}, batched=True),
    )


EXERCISE = Exercise(
    name="layer_norm",
    title=Words("Layer normalisation", "層正規化"),
    task=Words(
        "Bring each row to mean 0 and variance 1, then scale and shift (Ba et al., 2016):\n"
        "gamma · (x - mean) / √(variance + eps) + beta, over the last axis; variance divides by "
        "n, not n - 1. x: (…, d); gamma, beta: (d,). Returns: the shape of x.",
        "各行を平均 0、分散 1 にしてから、gamma 倍して beta を足します (Ba ほか 2016)。"
        "最後の軸について "
        "gamma · (x - 平均) / √(分散 + eps) + beta。分散は n - 1 ではなく n で割ります。\n"
        "x: (…, d)、gamma, beta: (d,)。返り値: x と同じ形。",
    ),
    right=right,
    steps={
        "centred": centred,
        "variance": variance,
        "divided": divided,
        "gained": lambda normed, gamma: normed * gamma,
        "shifted": lambda gained, beta: gained + beta,
    },
    probes=probes,
    module=modules.LAYER_NORM,
    mistakes=(*SPREADING, *GAIN_AND_SHIFT),
)
