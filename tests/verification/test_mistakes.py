"""Whatever is wrong is found, and named."""

import pytest

from clearformer.verification.case import public_operations
from clearformer.verification.models import listened_row, logits_row
from clearformer.verification.operations import operation_row, step_by_step_row
from clearformer.verification.optimizer import adamw_row
from clearformer.verification.tiny_model import RECIPES
from clearformer.verification.training_step import training_step_row
from clearformer.verification.verify import FOR_OPTIMIZERS

pytest.importorskip("torch", reason="verifying PyTorch needs PyTorch (extra torch)")

from verification.mistakes import MISTAKES

every_mistake = pytest.mark.parametrize(
    ("operation", "what"), MISTAKES, ids=[": ".join(key) for key in MISTAKES]
)


def row_of(operation, side):
    own = FOR_OPTIMIZERS.get(operation)
    return own(side) if own else operation_row(operation, side)


@every_mistake
def test_a_mistake_is_found_and_named(operation, what, engine, side, monkeypatch):
    monkeypatch.setattr(engine, operation, MISTAKES[operation, what](engine))
    row = row_of(operation, side("float32"))
    assert (row.name, row.dtype, row.agrees) == (operation, "float32", False)
    assert row.reason


def test_there_is_a_mistake_for_every_operation():
    assert {operation for operation, _ in MISTAKES} == set(public_operations())


@pytest.mark.parametrize("operation", public_operations())
def test_without_a_mistake_it_agrees(operation, side):
    row = row_of(operation, side("float32"))
    assert row.agrees
    assert row.reason == ""
    assert row.value.number <= row.value.bound


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    "key",
    [
        ("softmax", "the maximum is not subtracted"),
        ("attention", "ignores its mask"),
        ("attention", "NaN where nothing may be seen"),
        ("linear", "no bias"),
        ("gelu", "a wrong factor in the gradient"),
        ("layer_norm", "the variance of a sample"),
        ("rotate", "the other way round"),
        ("cross_entropy", "counts what is ignored"),
        ("logistic_loss", "counts what weighs nothing"),
    ],
    ids=": ".join,
)
def test_a_mistake_is_found_in_16_bits_too(key, dtype, engine, side, monkeypatch):
    monkeypatch.setattr(engine, key[0], MISTAKES[key](engine))
    assert not operation_row(key[0], side(dtype)).agrees


def test_sums_in_16_bits_are_found(engine, side, monkeypatch):
    """A product must add up in float32, however many terms there are."""

    def wrong(x, weight, bias=None):
        total = x[..., :1] * weight[0]
        for place in range(1, x.shape[-1]):
            total = total + x[..., place : place + 1] * weight[place]
        return total if bias is None else total + bias

    monkeypatch.setattr(engine, "linear", wrong)
    row = operation_row("linear", side("bfloat16"))
    assert not row.agrees
    assert "x(2,64,128)" in row.reason


def test_a_wrong_step_of_attention_is_found_by_listening(engine, side, monkeypatch):
    right = engine.softmax
    monkeypatch.setattr(engine, "softmax", lambda x, axis=-1: right(x * 1.001, axis))
    assert not step_by_step_row(side("float32")).agrees
    for recipe in RECIPES:
        assert not listened_row(recipe, side("float32")).agrees
        assert logits_row(recipe, side("float32")).agrees  # nobody listens there


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_a_wrong_part_makes_the_whole_step_wrong(recipe, dtype, engine, side, monkeypatch):
    assert training_step_row(recipe, side(dtype)).agrees
    norm = "rms_norm" if recipe == "modern" else "layer_norm"
    right = getattr(engine, norm)
    monkeypatch.setattr(engine, norm, lambda x, *rest: right(x * 1.05, *rest, 0.5))
    row = training_step_row(recipe, side(dtype))
    assert not row.agrees
    if dtype != "bfloat16":
        assert not logits_row(recipe, side(dtype)).agrees


def test_an_optimizer_that_forgets_to_decay_is_found(engine, side, monkeypatch):
    right = engine.adamw

    def wrong(*buffers, decay=0.0, **options):
        right(*buffers, **options)

    monkeypatch.setattr(engine, "adamw", wrong)
    row = training_step_row("modern", side("float32"))
    assert not row.agrees
    assert row.gradient.agrees
    assert "gain" not in row.reason  # these do not decay


def test_what_an_engine_raises_is_a_disagreement_with_its_reason(engine, side, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no kernel\nfor this device")

    for operation in ("gelu", "adamw", "rms_norm"):
        monkeypatch.setattr(engine, operation, fail)
    rows = [
        operation_row("gelu", side("float32")),
        adamw_row(side("float32")),
        logits_row("modern", side("float32")),
        listened_row("modern", side("float32")),
        training_step_row("modern", side("bfloat16")),
    ]
    for row in rows:
        assert not row.agrees
        assert "RuntimeError" in row.reason
        assert "no kernel for this device" in row.reason
        document = row.to_json()
        assert document["value_error"] is None
        assert document["agrees"] is False


def test_failing_in_one_case_does_not_hide_the_others(engine, side, monkeypatch):
    right = engine.gelu

    def sometimes(x):
        if not x.numel():
            raise RuntimeError("nothing to do")
        return right(x) + 1

    monkeypatch.setattr(engine, "gelu", sometimes)
    row = operation_row("gelu", side("float32"))
    assert row.value.number > 0.1
    assert row.reason.startswith("raised RuntimeError in x(0,3): nothing to do; value error")


def test_one_nan_is_enough(engine, side, monkeypatch):
    right = engine.silu

    def wrong(x):
        result = right(x)
        return torch_with_nan(result) if result.numel() > 1000 else result

    def torch_with_nan(result):
        keep = (result.detach() != result.detach().max()).to(result.dtype)
        return result / keep * keep

    monkeypatch.setattr(engine, "silu", wrong)
    row = operation_row("silu", side("float32"))
    assert not row.agrees
    assert "NaN" in row.reason
    assert row.to_json()["value_error"] is None
