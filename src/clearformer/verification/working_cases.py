"""Cases of the sizes that a small model works with, and cases of extreme numbers.

The small cases reach every path of an operation as it is written; a device may choose another
kernel for larger ones. Extreme numbers overflow in an operation that is carelessly written.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import sqrt

import numpy as np

from clearformer.verification.case import Case, stacked
from clearformer.verification.recurrent_cases import (
    extreme_recurrent_cases,
    working_recurrent_cases,
)

ROWS = (2, 64)
"""(batch, seq)"""
EMBED, HIDDEN, VOCABULARY = 128, 256, 1000
HEADS, WIDTH = 4, 32
SPLIT = (2, HEADS, 64, WIDTH)
"""(batch, head, seq, width)"""

LARGE = 1000.0
"""exp(±LARGE) is 0 or ∞ in every type, LARGE² is ∞ in float16."""

LARGE_FACTOR = 17.0
"""Of a query and of a key: for their product, exp is 0 or ∞ in float32."""


def _rows() -> Iterator[Case]:
    x = (*ROWS, EMBED)
    row = (EMBED,)
    rng = np.random.default_rng(8)
    yield Case("add", {"a": x, "b": row})
    yield Case("multiply", {"a": x, "b": row})
    weight = {"x": x, "weight": (EMBED, HIDDEN), "bias": (HIDDEN,)}
    yield Case("linear", weight, sizes={"weight": 1 / sqrt(EMBED)})
    pair = {"x": x, "first": (EMBED, EMBED), "second": (EMBED, EMBED // 2)}
    yield Case("linear_pair", pair, sizes=dict.fromkeys(("first", "second"), 1 / sqrt(EMBED)))
    yield Case(
        "embed", {"table": (VOCABULARY, EMBED)}, {"ids": rng.integers(VOCABULARY, size=ROWS)}
    )
    yield Case("layer_norm", {"x": x, "gain": row, "bias": row})
    yield Case("rms_norm", {"x": x, "gain": row})
    yield Case("squared_relu", {"x": x})
    yield Case("gelu", {"x": x})
    yield Case("silu", {"x": x})
    yield Case("tanh", {"x": x})
    yield Case("sigmoid", {"x": x})
    yield Case("reshape", {"x": x}, {"shape": (*ROWS, HEADS, WIDTH)})
    yield Case("dropout", {"x": x}, {"keep": (rng.random(x) < 0.75) / 0.75})
    yield Case("split_heads", {"x": x}, {"heads": HEADS})
    targets = rng.integers(VOCABULARY, size=ROWS)
    targets[0, :5] = -100
    yield Case("cross_entropy", {"logits": (*ROWS, VOCABULARY)}, {"targets": targets})
    answers = {"targets": rng.random(x) < 0.2, "weights": rng.integers(0, 3, x).astype(float)}
    yield Case("logistic_loss", {"logits": x}, answers)


def _heads() -> Iterator[Case]:
    table = (*SPLIT[:3], SPLIT[2])
    mask = np.random.default_rng(9).random(table) < 0.7
    one = (*SPLIT[:2], 1, WIDTH)
    right = (*SPLIT[:2], WIDTH, 64)
    yield Case("matmul", {"left": SPLIT, "right": right}, sizes={"right": 1 / sqrt(WIDTH)})
    yield Case("softmax", {"x": table})
    yield Case("mask_scores", {"scores": table}, {"allowed": mask})
    yield Case("attention", {"query": SPLIT, "key": SPLIT, "value": SPLIT}, {"causal": True})
    yield Case("attention", {"query": SPLIT, "key": SPLIT, "value": SPLIT}, {"mask": mask})
    yield Case("attention", {"query": one, "key": SPLIT, "value": SPLIT})
    angles = np.random.default_rng(10).normal(size=(64, WIDTH // 2))
    for name in ("rotate", "rotate_unit"):
        yield Case(name, {"x": SPLIT}, {"turn": np.exp(1j * angles)})
    for name in ("merge_heads", "transpose"):
        yield Case(name, {"x": SPLIT})
    yield Case("part_heads", {"x": SPLIT}, {"count": 1}, results=2, together=stacked)
    yield Case("shift", {"x": SPLIT, "before": (*SPLIT[:2], 1, WIDTH)})
    yield Case("repeat_heads", {"x": (2, 2, 64, WIDTH)}, {"times": 2})


def _extremes() -> Iterator[Case]:
    x, row = (3, 8), (8,)
    far = {"x": LARGE}
    yield Case("softmax", {"x": x}, sizes=far)
    targets = np.array([0, 7, -100])
    yield Case("cross_entropy", {"logits": x}, {"targets": targets}, {"logits": LARGE})
    answers = {"targets": np.random.default_rng(12).random(x) < 0.5}
    yield Case("logistic_loss", {"logits": x}, answers, {"logits": LARGE})
    both = {"query": LARGE_FACTOR, "key": LARGE_FACTOR}
    yield Case("attention", {"query": x, "key": x, "value": x}, {"causal": True}, both)
    yield Case("layer_norm", {"x": x, "gain": row, "bias": row}, sizes=far)
    yield Case("rms_norm", {"x": x, "gain": row}, sizes=far)
    yield Case("gelu", {"x": x}, sizes=far)
    yield Case("silu", {"x": x}, sizes=far)
    yield Case("tanh", {"x": x}, sizes=far)
    yield Case("sigmoid", {"x": x}, sizes=far)
    yield from extreme_recurrent_cases(LARGE)


INCOMING = 1 / sqrt(ROWS[0] * ROWS[1])
"""As where a loss is a mean over the rows: what is added up over them is then around one, and the
absolute part of a tolerance means the same as for a single row."""

WORKING_CASES = (
    *(
        replace(case, incoming=INCOMING)
        for case in (*_rows(), *_heads(), *working_recurrent_cases())
    ),
    *_extremes(),
)
