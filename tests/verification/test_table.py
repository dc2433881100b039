"""The table a person sees."""

from math import inf

import pytest

from clearformer.verification.report import Error, Row, Verification
from clearformer.verification.table import COLUMNS, lines

DTYPES = ("float64", "float32", "bfloat16", "float16")
WORST = "x(2,4,64,32) key(2,4,64,32) value(2,4,64,32) mask(2,4,64,64) causal=True scale=0.25"


def row(name="gelu", dtype="float32", value=1e-8, gradient=2e-8, bound=1e-6, failure=""):
    errors = (Error(number, bound, WORST) if number is not None else None
              for number in (value, gradient))  # fmt: skip
    return Row(name, dtype, *errors, failure)


def verification(*rows, engine="torch", notes=()):
    versions = {"numpy": "2.4.6", "torch": "2.13.0+cpu"}
    return Verification(engine, "cpu", versions, rows, notes, 3.21)


def text_of(found):
    return "\n".join("".join(piece for piece, _ in line) for line in lines(found))


def styles_of(found, word):
    """The styles of the lines that hold a word."""
    return [
        {style for _, style in line}
        for line in lines(found)
        if word in "".join(piece for piece, _ in line)
    ]


def many(names=("linear", "attention, step by step", "training step (classic)"), **options):
    return [row(name, dtype, **options) for name in names for dtype in DTYPES]


@pytest.mark.parametrize("value", [0.0, 1e-300, 9.99e-9, 1.0, 1e300, inf])
def test_every_line_fits_80_columns(value):
    for engine in ("torch", "numpy"):
        found = verification(*many(value=value), engine=engine, notes=["a note"])
        assert max(map(len, text_of(found).splitlines())) <= COLUMNS


def test_no_line_ends_in_blanks():
    assert all(line == line.rstrip() for line in text_of(verification(*many())).splitlines())


def test_it_needs_no_character_beyond_ascii():
    assert text_of(verification(*many(value=inf))).isascii()


def test_an_operation_is_one_line_with_all_its_types():
    shown = text_of(verification(*many()))
    (line,) = [line for line in shown.splitlines() if line.startswith("linear")]
    assert line.split() == ["linear", *["1e-08", "2e-08"] * 4, "yes"]


def test_what_is_allowed_stands_above_and_again_where_it_changes():
    rows = [row("add"), row("gelu"), row("model", bound=2e-5), row("step", bound=2e-5)]
    first = [line.split()[0] for line in text_of(verification(*rows)).splitlines() if line]
    begun = first.index("allowed")
    assert first[begun : begun + 6] == ["allowed", "add", "gelu", "allowed", "model", "step"]


def test_what_a_row_does_not_have_stays_empty():
    rows = [row("add"), row("adamw", gradient=None), row("gelu")]
    shown = text_of(verification(*rows))
    assert shown.count("allowed") == 1
    assert "adamw                    1e-08        yes" in shown


def test_when_all_agree_it_says_so_and_what_it_means():
    found = verification(*many())
    assert "All 12 agree: PyTorch on cpu computes what NumPy computes. (3.2 s)" in text_of(found)
    assert {"good"} <= styles_of(found, "All 12")[0]
    assert not any("bad" in {style for _, style in line} for line in lines(found))


def test_what_does_not_agree_stands_out_with_its_reason():
    found = verification(row("add"), row("gelu", gradient=0.5), row("silu", value=inf))
    shown = " ".join(text_of(found).split())
    assert "2 of 3 do not agree" in shown
    assert f"gelu, float32: gradient error 0.5, allowed 1e-06, in {WORST}" in shown
    assert "silu, float32: value NaN, infinite or of another shape" in shown
    for line in text_of(found).splitlines():
        if line.startswith(("gelu ", "silu ")):
            assert line.endswith("   NO")
    assert all("bad" in styles for styles in styles_of(found, "gelu"))
    assert not any("bad" in styles for styles in styles_of(found, "add "))


def test_a_failure_is_told():
    failed = row(value=None, gradient=None, failure="raised RuntimeError in x(2,3): no kernel")
    shown = text_of(verification(failed))
    assert "raised   NO" in shown
    assert "gelu, float32: raised RuntimeError in x(2,3): no kernel" in shown


@pytest.mark.parametrize(
    ("engine", "dtype", "advice"),
    [
        ("torch", "float32", "--engine numpy"),
        ("torch", "float16", "--precision float32"),
        ("numpy", "float64", "another one"),
    ],
)
def test_a_disagreement_says_what_to_do(engine, dtype, advice):
    shown = text_of(verification(row(dtype=dtype, value=1.0), engine=engine))
    assert advice in " ".join(shown.split())


def test_notes_are_shown():
    assert "note: mps has no float64" in text_of(verification(row(), notes=["mps has no float64"]))
