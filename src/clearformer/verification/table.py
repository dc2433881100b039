"""A verification as a table for 80 columns, and what it means in words."""

from collections.abc import Iterator, Sequence
from math import isfinite
from textwrap import wrap
from typing import Literal

from clearformer.verification.report import Error, Row, Verification
from clearformer.verification.tolerance import NARROW

Style = Literal["plain", "faint", "strong", "good", "bad"]
Line = tuple[tuple[str, Style], ...]
"""Pieces of a line, each with its style."""

COLUMNS, NAME, NUMBER = 80, 23, 5
PAIR = 2 + NUMBER + 1 + NUMBER
"""Errors of value and gradient."""

IN_WORDS = {"numpy": "NumPy", "torch": "PyTorch"}

Bounds = tuple[float | None, float | None]


def lines(v: Verification) -> Iterator[Line]:
    """Title, table and verdict; lines that all agree are plain, the rest stands out."""
    yield ((_title(v), "strong"),)
    yield ()
    types = list(dict.fromkeys(row.dtype for row in v.rows))
    yield (("".join([" " * NAME, *(f"{dtype:>{PAIR}}" for dtype in types)]), "strong"),)
    kinds = f"{'value':>{2 + NUMBER}} {'grad.':>{NUMBER}}"
    yield ((f"{'largest error of':{NAME}}{kinds * len(types)}", "faint"),)
    shown: dict[str, Bounds] = {}
    for name, rows in _by_name(v.rows).items():
        bounds = {dtype: _bounds(row) for dtype, row in rows.items()}
        if any(_differ(shown.get(dtype), each) for dtype, each in bounds.items()):
            if shown:
                yield ()
            shown = bounds
            yield ((_line("allowed", [shown.get(dtype) for dtype in types]), "faint"),)
        yield _row(name, [rows.get(dtype) for dtype in types])
    yield ()
    yield from _verdict(v)


def _title(v: Verification) -> str:
    version = v.versions[v.engine]
    if v.engine == "numpy":
        return f"NumPy {version}: float32 held against float64, float64 against finite differences"
    return f"{IN_WORDS[v.engine]} {version} on {v.device}, held against NumPy in float64"


def _by_name(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row.name, {})[row.dtype] = row
    return found


def _bounds(row: Row) -> Bounds:
    value, gradient = row.value, row.gradient
    return value.bound if value else None, gradient.bound if gradient else None


def _differ(shown: Bounds | None, bounds: Bounds) -> bool:
    """Whether other bounds are shown; what a row does not have makes no difference."""
    shown = shown or (None, None)
    return any(mine not in (None, its) for its, mine in zip(shown, bounds, strict=True))


def _line(name: str, pairs: Sequence[Bounds | None]) -> str:
    return (f"{name:{NAME}}" + "".join(map(_pair, pairs))).rstrip()


def _pair(numbers: Bounds | None) -> str:
    value, gradient = numbers or (None, None)
    return f"{_short(value):>{2 + NUMBER}} {_short(gradient):>{NUMBER}}"


def _short(number: float | None) -> str:
    """One digit and its power of ten: what matters is how many places are right."""
    if number is None:
        return ""
    if not isfinite(number):
        return "inf"
    return f"{number:.0e}" if number else "0"


def _row(name: str, rows: Sequence[Row | None]) -> Line:
    met = [row for row in rows if row]
    cells: list[tuple[str, Style]] = [(f"{name:{NAME}}", "plain")]
    for row in rows:
        cells.append((_cell(row), "plain" if row is None or row.agrees else "bad"))
    agrees = all(row.agrees for row in met)
    return (*cells, ("  yes", "good") if agrees else ("   NO", "bad"))


def _cell(row: Row | None) -> str:
    if row and row.failure:
        return f"{'raised':>{PAIR}}"
    errors = (row.value, row.gradient) if row else (None, None)
    return _pair((_number(errors[0]), _number(errors[1])))


def _number(error: Error | None) -> float | None:
    return error.number if error else None


def _verdict(v: Verification) -> Iterator[Line]:
    for note in v.notes:
        yield ((f"note: {note}", "plain"),)
    wrong = [row for row in v.rows if not row.agrees]
    if not wrong:
        yield (
            (f"All {len(v.rows)} agree", "good"),
            (f": {_meaning(v)} ({v.seconds:.1f} s)", "plain"),
        )
        return
    yield ((f"{len(wrong)} of {len(v.rows)} do not agree:", "bad"),)
    for row in wrong:
        for line in wrapped(f"{row.name}, {row.dtype}: {row.reason}", "  ", "      "):
            yield ((line, "bad"),)
    yield ()
    for line in wrapped(_warning(v, wrong)):
        yield ((line, "plain"),)


def _meaning(v: Verification) -> str:
    if v.engine == "numpy":
        return "both types compute the same, and gradients are slopes."
    return f"{IN_WORDS[v.engine]} on {v.device} computes what NumPy computes."


def _warning(v: Verification, wrong: Sequence[Row]) -> str:
    if v.engine == "numpy":
        return (
            "What is trained or computed with this NumPy may be wrong. The cause may be the "
            "version of NumPy, or the library for matrices that it came with: install another one "
            "and verify again. --json has every number."
        )
    if all(row.dtype in NARROW for row in wrong):
        return (
            f"Only types of 16 bits are concerned. With --precision float32, training on "
            f"{v.device} does not use them. --json has every number."
        )
    return (
        f"What is trained or computed with {IN_WORDS[v.engine]} on {v.device} may be wrong. The "
        "cause may be its driver, the version of PyTorch, or the device itself: change one and "
        "verify again. Until then --engine numpy does without it. --json has every number."
    )


def wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """The text in lines of at most 80 columns."""
    return wrap(text, COLUMNS, initial_indent=first, subsequent_indent=rest)
