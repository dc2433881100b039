"""Slips in residual blocks: the steps `first`, `second` of a block and what they add to."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.checking.exercise import Mistake, Step
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def unit(x: Any) -> Any:
    """Layer normalisation without gain and shift."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _given(seed: int, T: int, d: int, size: float = 0.5) -> dict[str, Any]:
    return {
        "x": normal(seed, T, d, scale=1.5) + 0.5,
        "W_1": normal(seed + 1, d, d, scale=size),
        "W_2": normal(seed + 2, d, d, scale=size),
    }


def block_probes() -> tuple[Probe, ...]:
    """Sub-layers that are different, and ones that give 0, where only x is left."""
    nothing = {"W_1": np.zeros((4, 4)), "W_2": np.zeros((4, 4))}
    return (
        Probe("4 tokens", _given(201, 4, 5)),
        Probe("3 tokens", _given(211, 3, 7)),
        Probe("square", _given(221, 6, 6)),
        Probe("sub-layers of 0", {"x": normal(231, 3, 4) + 1, **nothing}),
        Probe("second sub-layer of 0", {**_given(241, 5, 4), "W_2": np.zeros((4, 4))}),
    )


FLOW = Words(
    "x must get past each sub-layer beside it, or deep models do not learn.",
    "x が各副層の横を通り抜けなければ、深いモデルは学習できません。",
)
ZERO = Words(
    "what does your block give where both sub-layers give 0?",
    "2 つの副層がどちらも 0 を返すとき、ブロックの出力は何ですか。",
)


def slip(key: str, change: Mapping[str, Step], en: str, ja: str, fix: Words, code: str) -> Mistake:
    """A mistake of a block."""
    return Mistake(key, change, Words(en, ja), FLOW, ZERO, fix, code)


def unnormed(change: Mapping[str, Step], en: str, ja: str, fix: Words, code: str) -> Mistake:
    """A norm of a block is missing."""
    return Mistake(
        "norm-missing",
        change,
        Words(en, ja),
        Words(
            "without it the numbers grow from block to block, and training becomes unsteady.",
            "これがないとブロックごとに数が大きくなり、学習が不安定になります。",
        ),
        Words(
            "how large do the numbers become behind 20 of your blocks?",
            "このブロックを 20 個重ねると、数はどのくらいの大きさになりますか。",
        ),
        fix,
        code,
    )
