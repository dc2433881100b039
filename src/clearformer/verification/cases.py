"""The cases in which every operation is proved, small on purpose: axes of size one and zero too.

An operation without a case here makes `test_every_operation` fail.
"""

from collections.abc import Iterator

import numpy as np

from clearformer.verification.case import Case, Shape, stacked
from clearformer.verification.recurrent_cases import small_recurrent_cases

BENDS = ("squared_relu", "gelu", "silu", "tanh", "sigmoid")


def _same_shape(name: str) -> Iterator[Case]:
    """For operations on each element: any shape goes."""
    for shape in ((2, 3), (4,), (1,), (2, 1, 3), (0, 3)):
        yield Case(name, {"x": shape})


def _arithmetic(name: str) -> Iterator[Case]:
    for a, b in (
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 1), (1, 3)),
        ((), (2, 2)),
        ((), ()),
        ((1, 1), (2, 3, 4)),
        ((2, 1, 3), (4, 1)),
        ((0, 3), (3,)),
        ((0, 3), (1, 1)),
    ):
        yield Case(name, {"a": a, "b": b})


def _products() -> Iterator[Case]:
    for x in ((4, 3), (3,), (2, 5, 3), (1, 3), (0, 3)):
        yield Case("linear", {"x": x, "weight": (3, 2)})
        yield Case("linear", {"x": x, "weight": (3, 2), "bias": (2,)})
    yield Case("linear", {"x": (1, 1), "weight": (1, 1), "bias": (1,)})
    for x in ((4, 3), (2, 4, 3), (3,), (0, 3), (1, 3)):
        matrices = {"first": (3, 2), "second": (3, 1)}
        yield Case("linear_pair", {"x": x, **matrices})
        yield Case("linear_pair", {"x": x, **matrices, "first_bias": (2,), "second_bias": (1,)})
    many: dict[str, Shape] = {"x": (40, 3), "first": (3, 2), "second": (3, 4)}
    for biases in ({}, {"second_bias": (4,)}, {"first_bias": (2,), "second_bias": (4,)}):
        yield Case("linear_pair", many | biases)
    for left, right in (
        ((2, 3), (3, 4)),
        ((2, 2, 3), (2, 3, 4)),
        ((2, 1, 2, 3), (3, 3, 2)),
        ((2, 3), (4, 3, 2)),
        ((1, 1), (1, 1)),
        ((0, 3), (3, 4)),
        ((2, 0), (0, 3)),
        ((1, 2, 3), (0, 3, 1)),
    ):
        yield Case("matmul", {"left": left, "right": right})


def _embed() -> Iterator[Case]:
    for ids, table in (
        ([[0, 2, 2], [4, 0, 2]], (5, 3)),
        ([599, 3, 599, 0, 3, 3], (600, 2)),
        ([[7]], (513, 1)),
        ([0, 0], (1, 1)),
        (3, (4, 2)),
        (3, (600, 1)),
        (np.zeros((2, 0), int), (4, 2)),
        (np.zeros(0, int), (600, 1)),
        (np.array([2, 1, 2], np.int32)[::-1], (3, 2)),
    ):
        yield Case("embed", {"table": table}, {"ids": np.asarray(ids)})


def _softmax() -> Iterator[Case]:
    for shape, axis in (
        ((2, 5), -1),
        ((2, 5), 0),
        ((3,), 0),
        ((2, 1), -1),
        ((1, 4), 0),
        ((2, 3, 4), 1),
        ((2, 3, 4), -3),
        ((0, 3), -1),
        ((0, 3), 0),
    ):
        yield Case("softmax", {"x": shape}, {"axis": axis})
    allowed = np.random.default_rng(3).random((3, 4)) < 0.6
    for shape, mask in (
        ((3, 4), allowed),
        ((2, 3, 4), allowed),
        ((2, 3, 4), allowed[:, :1]),
        ((1, 1), np.array([[False]])),
        ((0, 4), allowed[0]),
    ):
        yield Case("mask_scores", {"scores": shape}, {"allowed": mask})


def _attention() -> Iterator[Case]:
    some = np.random.default_rng(4).random((4, 5)) < 0.6
    some[1] = False  # a query that may look nowhere
    per_head = np.random.default_rng(5).random((2, 3, 4, 4)) < 0.7
    for (query, key, value), options in (
        (((4, 3), (4, 3), (4, 3)), {}),
        (((4, 3), (4, 3), (4, 3)), {"causal": True}),
        (((4, 3), (5, 3), (5, 2)), {"mask": some}),
        (((4, 3), (5, 3), (5, 2)), {"mask": some, "causal": True}),
        (((5, 3), (3, 3), (3, 2)), {"causal": True}),
        (((2, 4, 3), (2, 5, 3), (2, 5, 6)), {"scale": 0.3}),
        (((2, 3, 4, 2), (2, 3, 4, 2), (2, 3, 4, 2)), {"causal": True}),
        (((2, 3, 4, 2), (2, 3, 4, 2), (2, 3, 4, 5)), {"mask": per_head}),
        (((2, 3, 4, 2), (2, 1, 4, 2), (2, 1, 4, 2)), {"mask": per_head[:1, :1]}),
        (((2, 1, 4, 2), (3, 4, 2), (4, 3)), {"causal": True, "scale": 2.0}),
        (((4, 2), (2, 4, 2), (3, 1, 4, 2)), {"mask": per_head[0, 0, 0]}),
        (((1, 1), (1, 1), (1, 1)), {}),
        (((2, 1, 3), (2, 4, 3), (2, 4, 3)), {"mask": np.zeros((1, 4), bool)}),
        (((0, 3), (2, 3), (2, 3)), {}),
        (((2, 3), (0, 3), (0, 2)), {}),
        (((0, 2, 3), (0, 2, 3), (0, 2, 3)), {"causal": True}),
    ):
        yield Case("attention", {"query": query, "key": key, "value": value}, options)


def _norms() -> Iterator[Case]:
    for lead in ((2,), (), (2, 1, 2), (0,)):
        for size in (4, 1):
            x, row = (*lead, size), (size,)
            # alone, a number is its own mean: only rounding is left, times 1/√ε
            epsilon = {"epsilon": 0.1} if size == 1 else {}
            yield Case("layer_norm", {"x": x, "gain": row, "bias": row}, epsilon)
            yield Case("rms_norm", {"x": x})
            yield Case("rms_norm", {"x": x, "gain": row})
    yield Case("layer_norm", {"x": (3, 5), "gain": (5,), "bias": (5,)}, {"epsilon": 0.1})
    yield Case("rms_norm", {"x": (3, 5), "gain": (5,)}, {"epsilon": 0.1})


def _dropout_and_rotate() -> Iterator[Case]:
    for shape in ((2, 3), (1,), (0, 3)):
        keep = (np.random.default_rng(6).random(shape) < 0.5) / 0.5
        yield Case("dropout", {"x": shape}, {"keep": keep})
    for x in ((3, 4), (2, 3, 4), (1, 2), (2, 1, 3, 2), (0, 4), (0, 3, 4)):
        angles = np.random.default_rng(7).normal(size=(x[-2], x[-1] // 2))
        yield Case("rotate", {"x": x}, {"turn": np.exp(1j * angles)})
        yield Case("rotate_unit", {"x": x}, {"turn": np.exp(1j * angles), "epsilon": 0.1})


def _shapes() -> Iterator[Case]:
    for x, heads in (((3, 4), 2), ((2, 3, 6), 3), ((2, 3, 4), 1), ((1, 1), 1), ((0, 3, 4), 2)):
        yield Case("split_heads", {"x": x}, {"heads": heads})
    for split in ((2, 3, 4), (2, 2, 3, 1), (1, 1, 1), (0, 2, 3, 4), (2, 0, 3)):
        yield Case("merge_heads", {"x": split})
        yield Case("repeat_heads", {"x": split}, {"times": 2})
        yield Case("transpose", {"x": split})
        yield Case("shift", {"x": split})
        if split[-2]:
            yield Case("shift", {"x": split, "before": (*split[:-2], 1, split[-1])})
    for split, count in (((3, 2, 4), 1), ((2, 3, 2, 2), 2), ((2, 1, 1), 1), ((0, 2, 3, 1), 1)):
        yield Case("part_heads", {"x": split}, {"count": count}, results=2, together=stacked)
    for before, after in (((2, 6), (3, 4)), ((2, 3, 2), (-1,)), ((1,), ()), ((0, 3), (3, 0, 2))):
        yield Case("reshape", {"x": before}, {"shape": after})
    yield Case("repeat_heads", {"x": (3, 1, 2)}, {"times": 1})
    yield Case("transpose", {"x": (2, 3)})


def _cross_entropy() -> Iterator[Case]:
    for logits, targets in (
        ((4, 5), [0, 4, 2, 2]),
        ((4, 5), [0, -100, 4, -100]),
        ((2, 3, 4), [[0, 1, 2], [3, -100, 0]]),
        ((5,), 3),
        ((1, 1), [0]),
        ((2, 1), [0, 0]),
        ((2, 3), [-100, -100]),
    ):
        yield Case("cross_entropy", {"logits": logits}, {"targets": np.asarray(targets)})
    yield Case("cross_entropy", {"logits": (3, 4)}, {"targets": np.array([1, 0, 2]), "ignore": 0})
    yield Case("cross_entropy", {"logits": (0, 4)}, {"targets": np.zeros(0, int)})


def _logistic_loss() -> Iterator[Case]:
    chance = np.random.default_rng(11)
    for shape in ((2, 3), (4,), (1,), (), (2, 1, 3), (0, 3)):
        answers = {"targets": np.asarray(chance.random(shape) < 0.4)}
        weights = np.asarray(chance.choice([0.0, 1.0, 2.5], shape))
        yield Case("logistic_loss", {"logits": shape}, answers)
        yield Case("logistic_loss", {"logits": shape}, {**answers, "weights": weights})
    nothing = {"targets": np.ones((2, 2), bool), "weights": np.zeros((2, 2))}
    yield Case("logistic_loss", {"logits": (2, 2)}, nothing)


CASES = (
    *_arithmetic("add"),
    *_arithmetic("multiply"),
    *_products(),
    *_embed(),
    *_softmax(),
    *_attention(),
    *_norms(),
    *(case for name in BENDS for case in _same_shape(name)),
    *_dropout_and_rotate(),
    *_shapes(),
    *_cross_entropy(),
    *small_recurrent_cases(),
    *_logistic_loss(),
)
