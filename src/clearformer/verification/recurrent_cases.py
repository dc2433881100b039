"""The cases of the recurrent operations: small ones, and one each of a working size."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt

import numpy as np

from clearformer.verification.case import Case, Shape

GATES = {"rnn": 1, "lstm": 4, "gru": 3}

SIZES = ((2, 3, 2, 3), (3, 4, 3, 2), (1, 1, 1, 1), (2, 1, 3, 2), (2, 0, 3, 2), (0, 2, 3, 2))
"""(batch, seq, input, hidden)"""

OF_LENGTH = (
    (4, 5, [3, 0, 5, 1]),
    (3, 2, [2, 2, 2]),
    (3, 2, [1, 1, 1]),
    (2, 3, [0, 0]),
)
"""(batch, seq, lengths)"""

ROWS, INPUT, HIDDEN = (4, 32), 64, 64
"""(batch, seq), and widths: a product that the NumPy engine takes in stripes."""


def small_recurrent_cases() -> Iterator[Case]:
    """Every operation with and without biases, and with lengths."""
    for name in GATES:
        for batch, seq, width, hidden in SIZES:
            yield _case(name, _shapes(name, batch, seq, width, hidden))
        yield _case(name, _shapes(name, 2, 3, 3, 2, biased=False))
        for batch, seq, lengths in OF_LENGTH:
            yield _case(name, _shapes(name, batch, seq, 3, 2), {"lengths": np.array(lengths)})
    yield from _of_gru()


def _of_gru() -> Iterator[Case]:
    lengths = {"lengths": np.array([2, 0, 4])}
    for batch, seq, options in ((2, 3, {}), (1, 1, {}), (2, 0, {}), (3, 4, lengths)):
        shapes = _shapes("gru", batch, seq, 3, 2)
        yield _case("gru", shapes | {"bias_new": (2,)}, options)
        yield _case("gru", shapes, {"reset": "before", **options})
    plain = _shapes("gru", 2, 3, 3, 2, biased=False)
    yield _case("gru", plain | {"bias_new": (2,)})
    yield _case("gru", plain, {"reset": "before"})


def working_recurrent_cases() -> Iterator[Case]:
    """Every operation, with and without lengths."""
    lengths = {"lengths": np.array([17, 32, 0, 29])}
    for name in GATES:
        shapes = _shapes(name, *ROWS, INPUT, HIDDEN)
        scales = {"weight_input": 1 / sqrt(INPUT), "weight_hidden": 1 / sqrt(HIDDEN)}
        if name == "gru":
            yield _case(name, shapes, {"reset": "before"}, scales)
            shapes = shapes | {"bias_new": (HIDDEN,)}
        yield _case(name, shapes, sizes=scales)
        yield _case(name, shapes, lengths, scales)


def extreme_recurrent_cases(large: float) -> Iterator[Case]:
    """Every gate wide open or shut; weights receive gradients as much larger as x is."""
    for name in GATES:
        case = _case(name, _shapes(name, 2, 3, 3, 2), sizes={"x": large})
        yield replace(case, incoming=10 / large)


def _shapes(
    name: str, batch: int, seq: int, width: int, hidden: int, *, biased: bool = True
) -> dict[str, Shape]:
    columns = GATES[name] * hidden
    shapes: dict[str, Shape] = {"x": (batch, seq, width), "hidden": (batch, hidden)}
    if name == "lstm":
        shapes["cell"] = (batch, hidden)
    shapes |= {"weight_input": (width, columns), "weight_hidden": (hidden, columns)}
    return shapes | {"bias": (columns,)} if biased else shapes


def _case(
    name: str,
    shapes: dict[str, Shape],
    constants: Mapping[str, object] | None = None,
    sizes: dict[str, float] | None = None,
) -> Case:
    results = 3 if name == "lstm" else 2
    return Case(name, shapes, dict(constants or {}), sizes or {}, results=results)
