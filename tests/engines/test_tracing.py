"""What PyTorch's tracer records of an operation gives the same, and is fit to be compiled."""

import warnings

import numpy as np
import pytest

from clearformer import ops
from clearformer.verification.case import Case
from clearformer.verification.cases import CASES

torch = pytest.importorskip("torch", reason="tracing is PyTorch's (extra torch)")

from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

WAYS = {
    (case.operation, *case.operands, *case.constants): case
    for case in CASES
    if all(0 not in shape for shape in case.operands.values())
    and "lengths" not in case.constants  # losses on rows of different lengths are not compiled
}
"""A case of each operation in each way to call it: tracing takes a tenth of a second."""

HOLD_ARRAYS = {
    case.operation: case
    for case in WAYS.values()
    if any(isinstance(x, np.ndarray) for x in case.constants.values())
}
"""A case of each operation in which something crosses over while the tracer listens."""


def with_gradients(case: Case):
    """The case as a function that returns its gradients too."""

    def function(*leaves):
        result = case.ours(*leaves)
        parts = torch.autograd.grad(result.cos().sum(), leaves, allow_unused=True)
        return [result, *(part for part in parts if part is not None)]

    return function


def leaves_of(case: Case, rng: np.random.Generator) -> list[torch.Tensor]:
    return [torch.from_numpy(x).requires_grad_() for x in case.arrays(rng)]


@pytest.mark.parametrize("case", WAYS.values(), ids=str)
def test_a_recorded_operation_and_its_gradient_give_the_same(case: Case, rng):
    function, leaves = with_gradients(case), leaves_of(case, rng)
    program = make_fx(function)(*leaves)
    torch.testing.assert_close(program(*leaves), function(*leaves), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("mode", ["fake", "symbolic"])
@pytest.mark.parametrize("case", HOLD_ARRAYS.values(), ids=str)
def test_so_it_does_where_tensors_only_stand_for_numbers(case: Case, mode, rng):
    leaves = leaves_of(case, rng)
    program = make_fx(case.ours, tracing_mode=mode)(*leaves)
    torch.testing.assert_close(program(*leaves), case.ours(*leaves), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("case", [c for c in CASES if c.operation.startswith("rotate")], ids=str)
def test_turning_is_recorded_in_real_numbers(case: Case, rng):
    """The compiler has no code for complex ones. Both ways of turning must agree."""
    leaves = leaves_of(case, rng)
    program, expected = make_fx(case.ours)(*leaves), case.ours(*leaves)
    found = program(*leaves)
    assert "complex" not in program.code
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    seed = torch.randn_like(expected)
    gradients = [torch.autograd.grad(result, leaves, seed) for result in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_a_table_kept_while_tracing_serves_afterwards(rng):
    turn = np.exp(1j * rng.normal(size=(3, 2)))
    turn.flags.writeable = False
    x = torch.from_numpy(rng.normal(size=(3, 4)))
    for mode in ("fake", "symbolic", "real"):
        make_fx(lambda x: ops.rotate(x, turn), tracing_mode=mode)(x)
    found = ops.rotate(x, turn)
    expected = ops.rotate(x.numpy(), turn)
    np.testing.assert_allclose(found.numpy(), expected, 1e-12)


@pytest.mark.long  # compiling takes half a minute
def test_what_is_recorded_can_be_compiled_with_its_gradient(rng):
    width, heads, seq = 16, 2, 8
    turn = np.exp(1j * rng.normal(size=(seq, width // heads // 2)))
    ids, targets = torch.from_numpy(rng.integers(0, 5, (2, 2, seq)))

    def loss(ids, targets, table, gain, bias, weight):
        x = ops.embed(ids, table)
        heads_of = ops.split_heads(ops.linear(ops.rms_norm(x, gain), weight), heads)
        turned = ops.rotate(ops.rms_norm(heads_of), turn)
        x = ops.add(x, ops.merge_heads(ops.attention(turned, turned, heads_of, causal=True)))
        x = ops.add(x, ops.squared_relu(ops.layer_norm(x, gain, bias)))
        return ops.cross_entropy(ops.linear(x, ops.transpose(table)), targets)

    shapes = (5, width), (width,), (width,), (width, width)
    leaves = [torch.from_numpy(rng.normal(size=s)).float().requires_grad_() for s in shapes]
    expected = loss(ids, targets, *leaves)
    program = make_fx(loss)(ids, targets, *leaves)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the compiler, about itself
        found = torch.compile(program, dynamic=False)(ids, targets, *leaves)
        gradients = torch.autograd.grad(found, leaves)
    torch.testing.assert_close(found, expected)
    for mine, wanted in zip(gradients, torch.autograd.grad(expected, leaves), strict=True):
        torch.testing.assert_close(mine, wanted)
