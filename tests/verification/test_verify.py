"""The verification as a whole."""

import sys

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.verification import verify as module
from clearformer.verification.case import public_operations
from clearformer.verification.cases import CASES
from clearformer.verification.sides import Side, reference
from clearformer.verification.tiny_model import RECIPES
from clearformer.verification.verify import FOR_OPTIMIZERS, verify
from clearformer.verification.working_cases import WORKING_CASES

WHOLES = [
    f"{whole} ({recipe}){rest}"
    for whole, rest in (("model", ": logits"), ("listening", ""), ("training step", ""))
    for recipe in RECIPES
]


@pytest.fixture(scope="module")
def of_torch():
    pytest.importorskip("torch", reason="verifying PyTorch needs PyTorch (extra torch)")
    shares = []
    return verify("torch", "cpu", shares.append), shares


@pytest.fixture(scope="module")
def of_numpy():
    return verify("numpy")


def dtypes(found, name):
    return [row.dtype for row in found.rows if row.name == name]


def test_both_engines_agree(of_torch):
    found, _ = of_torch
    assert [(row.name, row.dtype, row.reason) for row in found.rows if not row.agrees] == []
    assert found.agrees
    assert found.notes == []


def test_numpy_agrees_with_itself(of_numpy):
    assert [(row.name, row.dtype, row.reason) for row in of_numpy.rows if not row.agrees] == []
    assert of_numpy.agrees


def test_every_operation_is_verified_in_every_type(of_torch, of_numpy):
    for name in public_operations():
        narrow = [] if name in FOR_OPTIMIZERS else ["bfloat16", "float16"]
        assert dtypes(of_torch[0], name) == ["float64", "float32", *narrow]
        assert dtypes(of_numpy, name) == ["float64", "float32"]


def test_models_and_training_steps_are_verified(of_torch, of_numpy):
    for name in (*WHOLES, "attention, step by step"):
        narrow = ["bfloat16"] if "training" in name else []
        assert dtypes(of_torch[0], name) == ["float64", "float32", *narrow]
        assert dtypes(of_numpy, name) == ["float64", "float32"]


def test_every_row_has_both_errors_but_those_for_optimizers(of_torch, of_numpy):
    for row in (*of_torch[0].rows, *of_numpy.rows):
        assert row.value is not None
        assert (row.gradient is None) == (row.name in FOR_OPTIMIZERS)


def test_bounds_are_those_that_were_promised(of_torch):
    bounds = {(row.name, row.dtype): row for row in of_torch[0].rows}
    for name in public_operations():
        row = bounds[name, "float64"]
        assert row.value.bound == 1e-12
        assert row.gradient is None or row.gradient.bound == 1e-10
    for recipe in RECIPES:
        assert bounds[f"model ({recipe}): logits", "float64"].value.bound == 1e-12
        assert bounds[f"model ({recipe}): logits", "float32"].value.bound == 2e-5


def test_progress_goes_from_the_first_row_to_the_last(of_torch):
    found, shares = of_torch
    assert len(shares) == len(found.rows)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_every_operation_has_a_case_of_a_working_size():
    sizes: dict[str, int] = {}
    for case in WORKING_CASES:
        largest = max(int(np.prod(shape)) for shape in case.operands.values())
        sizes[case.operation] = max(largest, sizes.get(case.operation, 0))
    assert set(sizes) == {case.operation for case in CASES}
    assert min(sizes.values()) >= 8192


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_a_side_sees_the_numbers_that_its_type_can_hold(dtype, side, rng):
    """And the reference then computes with these, not with those that were drawn."""
    drawn = rng.normal(size=100)
    found = side(dtype).run(lambda x: x * 1.0, [drawn])
    expected = reference().run(lambda x: x * 1.0, found.inputs, found.seed)
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(found.gradients[0], expected.gradients[0])
    digits = {"float64": 53, "float32": 24, "bfloat16": 8, "float16": 11}[dtype]
    np.testing.assert_allclose(found.inputs[0], drawn, 2.0**-digits, 2.0**-24)
    assert (found.inputs[0] == drawn).all() == (dtype == "float64")


def test_a_type_that_a_device_lacks_is_left_out_and_said(torch, monkeypatch):
    """As on Apple's GPUs, which have no float64."""

    def lacking(self):
        raise TypeError("no float64 here")

    monkeypatch.setattr(torch.Tensor, "double", lacking)
    monkeypatch.setattr(module, "public_operations", lambda: {"gelu": None})
    found = verify("torch")
    assert found.notes == ["cpu has no float64; it was left out"]
    assert {row.dtype for row in found.rows} == {"float32", "bfloat16", "float16"}
    assert found.agrees


@pytest.mark.parametrize(
    ("engine", "device", "told"),
    [
        ("abacus", "cpu", "numpy, torch"),
        ("numpy", "cuda", "cpu"),
        ("torch", "abacus", "cuda"),
        ("torch", "mps", "cpu"),
        ("torch", "cuda", "cpu"),
    ],
)
def test_an_engine_or_a_device_that_is_not_there_is_refused(engine, device, told, torch):
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if engine == "torch" and there.get(device):
        pytest.skip(f"this machine has {device}")
    with pytest.raises(ConfigurationError, match=told):
        verify(engine, device)


def test_a_device_that_cannot_be_used_is_refused_in_one_line(monkeypatch):
    def fail(*_):
        raise RuntimeError("CUDA error: invalid device ordinal")

    monkeypatch.setattr(module, "Side", fail)
    with pytest.raises(ConfigurationError, match="cuda:7: CUDA error: invalid device ordinal"):
        verify("torch", "cuda:7")


def test_without_pytorch_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ConfigurationError, match=r"pip install \"\.\[torch\]\" in the clone"):
        verify("torch")


def test_threads_are_as_before_when_it_is_done(torch, monkeypatch):
    monkeypatch.setattr(module, "public_operations", lambda: {"gelu": None})
    monkeypatch.setattr(module, "RECIPES", ())
    torch.set_num_threads(2)
    verify("torch")
    assert torch.get_num_threads() == 2


def test_a_side_is_named_by_its_type(side):
    assert [side(dtype).dtype for dtype in ("float64", "bfloat16")] == ["float64", "bfloat16"]
    assert reference().is_reference
    assert not side("float64").is_reference
    assert not Side("numpy", "cpu", "float32").is_reference
