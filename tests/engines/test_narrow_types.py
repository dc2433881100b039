"""Types of 16 bits: products are narrow, sums of many numbers are kept in float32."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.verification.case import Case
from clearformer.verification.cases import CASES
from engines.runners import BY_NUMPY

torch = pytest.importorskip("torch", reason="NumPy trains in no type of 16 bits (extra torch)")

NARROW = {torch.bfloat16: 1.6e-2, torch.float16: 1e-3}
"""With the relative error that `torch.testing.assert_close` allows."""

every_type = pytest.mark.parametrize("dtype", NARROW, ids=str)

WIDENS = {"embed", "cross_entropy", "logistic_loss"}


@every_type
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_result_is_that_of_float64_rounded_to_its_type_or_to_a_wider_one(case: Case, dtype, rng):
    leaves = [torch.from_numpy(x).to(dtype).requires_grad_() for x in case.arrays(rng)]
    result = case.ours(*leaves)
    assert result.dtype == (torch.float32 if case.operation in WIDENS else dtype)
    expected = BY_NUMPY.value(case.ours, *(x.detach().double().numpy() for x in leaves))
    torch.testing.assert_close(
        result.detach().double(), torch.from_numpy(expected), rtol=NARROW[dtype], atol=NARROW[dtype]
    )
    result.backward(torch.ones_like(result))
    assert all(x.grad is None or x.grad.dtype == dtype for x in leaves)


@every_type
def test_linear_computes_in_the_type_of_its_matrix(dtype, rng):
    x = torch.from_numpy(rng.normal(size=(2, 3))).float().requires_grad_()
    weight, bias = (torch.from_numpy(rng.normal(size=s)).to(dtype) for s in ((3, 4), 4))
    found = ops.linear(x, weight.requires_grad_(), bias.float())
    assert found.dtype == dtype
    torch.testing.assert_close(found, x.to(dtype) @ weight + bias, rtol=0.02, atol=0.02)
    found.sum().backward()
    assert (x.grad.dtype, weight.grad.dtype) == (torch.float32, dtype)
    assert ops.linear(x.to(dtype), weight.float()).dtype == torch.float32


@every_type
def test_gradients_of_an_embedding_are_added_up_in_float32(dtype):
    """In bfloat16, 256 + 1 is 256: a token met more often would stop learning."""
    table = torch.zeros(2, 1, dtype=dtype, requires_grad=True)
    ops.embed(np.zeros(1000, int), table).sum().backward()
    assert float(table.grad[0]) == 1000


@every_type
def test_rows_are_as_wide_where_nothing_is_recorded(dtype, rng):
    table = torch.from_numpy(rng.normal(size=(3, 2))).to(dtype)
    rows = ops.embed(np.array([2, 0]), table)
    assert torch.equal(rows, ops.embed(np.array([2, 0]), table.requires_grad_()))
    assert rows.dtype == torch.float32


@every_type
def test_the_loss_of_a_narrow_model_is_counted_in_float32(dtype):
    """2,000 losses of 60 nats add up to more than float16 holds."""
    logits = torch.zeros(2000, 2, dtype=dtype)
    logits[:, 0] = 60
    loss = ops.cross_entropy(logits, np.ones(2000, int))
    assert loss.dtype == torch.float32
    assert float(loss) == 60


@every_type
@pytest.mark.parametrize("causal", [False, True])
def test_attention_on_a_processor_rounds_only_its_result(dtype, causal, rng):
    qkv = torch.from_numpy(rng.normal(size=(3, 1, 2, 6, 4))).to(dtype)
    found = ops.attention(*qkv, causal=causal)
    expected = ops.attention(*qkv.float(), causal=causal)
    assert torch.equal(found, expected.to(dtype))


@every_type
def test_the_wider_of_two_types_is_that_of_the_result(dtype):
    narrow, wide = torch.ones(2, 2, dtype=dtype), torch.ones(2, 2)
    for result in (
        ops.matmul(narrow, wide),
        ops.add(narrow, wide),
        ops.multiply(wide, narrow),
        ops.attention(wide, narrow, narrow),
    ):
        assert result.dtype == torch.float32


@every_type
def test_norms_have_the_type_of_what_they_norm(dtype):
    x, row = torch.ones(2, 4), torch.ones(4, dtype=dtype)
    assert ops.layer_norm(x, row, row).dtype == ops.rms_norm(x, row).dtype == torch.float32
    narrow = x.to(dtype)
    assert ops.layer_norm(narrow, row.float(), row).dtype == dtype
    assert ops.rms_norm(narrow, row.float()).dtype == ops.rms_norm(narrow).dtype == dtype


@every_type
def test_arrays_take_the_type_of_the_tensor_beside_them(dtype):
    x, array = torch.ones(3, dtype=dtype), np.full(3, 0.5)
    for result in (ops.add(x, array), ops.multiply(array, x), ops.dropout(x, array), x * 2):
        assert result.dtype == dtype
