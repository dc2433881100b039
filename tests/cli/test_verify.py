"""`clearformer verify`: the table, the JSON document, and the exit status."""

import sys

import pytest

from clearformer.verification import verify as module
from clearformer.verification.verify import FOR_OPTIMIZERS
from cli.documents import only_document

KEYS = {"name", "dtype", "value_error", "gradient_error", "agrees"}


@pytest.fixture
def quick(monkeypatch):
    """Only two operations."""
    monkeypatch.setattr(module, "public_operations", lambda: {"gelu": None, "softmax": None})
    monkeypatch.setattr(module, "RECIPES", ())


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="verifying PyTorch needs PyTorch (extra torch)")


@pytest.fixture
def broken(torch, quick, monkeypatch):
    """The PyTorch engine with a softmax that does not subtract the maximum."""
    from clearformer.engines import torch as engine

    def wrong(x, axis=-1):
        return x.exp() / x.exp().sum(axis, keepdim=True)

    monkeypatch.setattr(engine, "softmax", wrong)


def test_json_is_the_document_of_the_contract(command, torch, quick):
    shown = command("verify", "--json")
    assert (shown.status, shown.err) == (0, "")
    document = only_document(shown.out)
    assert document["agrees"] is True
    assert (document["engine"], document["device"]) == ("torch", "cpu")
    assert document["notes"] == []
    for row in document["operations"]:
        assert set(row) >= KEYS
        assert row["agrees"] is True
        assert 0 <= row["value_error"] <= row["value_bound"]
        if row["name"] not in FOR_OPTIMIZERS:
            assert 0 <= row["gradient_error"] <= row["gradient_bound"]
    names = {(row["name"], row["dtype"]) for row in document["operations"]}
    assert {("gelu", "float16"), ("softmax", "bfloat16"), ("adamw", "float64")} <= names


def test_the_table_is_a_result_and_status_0_if_all_agree(command, torch, quick):
    shown = command("verify")
    assert (shown.status, shown.err) == (0, "")
    assert "gelu" in shown.out
    assert "PyTorch on cpu computes what NumPy computes" in shown.out
    assert "\x1b" not in shown.out  # colours are for terminals


def test_status_1_names_what_does_not_agree(command, broken):
    shown = command("verify")
    assert (shown.status, shown.err) == (1, "")
    assert "do not agree" in shown.out
    for dtype in ("float64", "float32", "bfloat16", "float16"):
        assert f"softmax, {dtype}: " in shown.out
    assert "gelu, " not in shown.out


def test_a_disagreement_is_in_json_too_and_nothing_there_is_infinite(command, broken):
    shown = command("verify", "--json")
    assert (shown.status, shown.err) == (1, "")
    document = only_document(shown.out)
    assert document["agrees"] is False
    rows = [row for row in document["operations"] if not row["agrees"]]
    assert {row["name"] for row in rows} == {"softmax", "attention, step by step"}
    assert all(row["reason"] for row in rows)
    assert all(row["value_error"] is None for row in rows)  # NaN


def test_numpy_is_verified_without_pytorch(command, quick, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for line in (["verify"], ["verify", "--engine", "numpy"]):
        shown = command(*line)
        assert (shown.status, shown.err) == (0, "")
        assert shown.out.startswith("NumPy")
        assert "finite differences" in shown.out


def test_a_wrong_gradient_of_numpy_is_status_1(command, quick, monkeypatch):
    from clearformer.engines import numpy as engine
    from clearformer.engines.tape import record, value_of

    right = engine.gelu

    def wrong(x):
        return record("gelu", value_of(right(x)), (x,), lambda grad: (grad,))

    monkeypatch.setattr(engine, "gelu", wrong)
    shown = command("verify", "--engine", "numpy")
    assert shown.status == 1
    assert "gelu, float64: gradient error" in shown.out


def test_without_pytorch_the_engine_torch_says_how_to_install_it(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert 'pip install ".[torch]" in the clone' in command("verify", "--engine", "torch").refusal()


@pytest.mark.parametrize("device", ["abacus", "cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(command, torch, device):
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if there.get(device):
        pytest.skip(f"this machine has {device}")
    line = command("verify", "--device", device).refusal()
    assert device in line
    assert "cpu" in line


def test_numpy_has_no_other_device(command):
    assert "cpu" in command("verify", "--engine", "numpy", "--device", "cuda").refusal()


@pytest.mark.parametrize("arguments", [["--engine", "abacus"], ["--device"], ["surplus"]], ids=str)
def test_wrong_usage_is_refused(command, arguments):
    assert "--help" in command("verify", *arguments).refusal()


def test_types_that_a_device_lacks_are_noted(command, torch, quick, monkeypatch):
    def lacking(self):
        raise TypeError("no float64 here")

    monkeypatch.setattr(torch.Tensor, "double", lacking)
    shown = command("verify")
    assert shown.status == 0
    assert "note: cpu has no float64" in shown.out
    shown = command("verify", "--json")
    assert "note: cpu has no float64" in shown.err
    assert only_document(shown.out)["notes"]


def test_the_whole_command_agrees(process):
    """Every operation and whole, in a process of its own, as somebody would run it."""
    pytest.importorskip("torch", reason="verifying PyTorch needs PyTorch (extra torch)")
    shown = process("verify", "--json")
    document = only_document(shown.out)
    assert [row for row in document["operations"] if not row["agrees"]] == []
    assert (shown.status, shown.err) == (0, "")
    assert len(document["operations"]) > 90
