"""The laws of the recurrent operations, on both engines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.choose import choose_engine
from clearformer.engines.numpy.stripes import repeated
from clearformer.engines.tape import Tape, TapeTensor
from clearformer.errors import ConfigurationError, ShapeError
from clearformer.verification.case import joined
from engines.proofs import check_against_torch, check_gradient, weights_like
from engines.runners import every_engine, needs_torch

GATES = {"rnn": 1, "lstm": 4, "gru": 3, "gru before": 3}

every_cell = pytest.mark.parametrize("cell", GATES)


def operation(cell: str) -> Callable[..., tuple[Any, ...]]:
    """The operation, taking operands in order."""
    if cell == "gru before":
        return lambda *operands, **options: ops.gru(*operands, reset="before", **options)
    return getattr(ops, cell)


def operands(
    cell: str, rng: np.random.Generator, batch=3, seq=5, width=4, hidden=6, dtype=np.float64
) -> list[np.ndarray]:
    """x, states, weights and biases."""
    columns = GATES[cell] * hidden
    shapes = [(batch, seq, width), (batch, hidden)]
    shapes += [(batch, hidden)] * (cell == "lstm")
    shapes += [(width, columns), (hidden, columns), (columns,)]
    shapes += [(hidden,)] * (cell == "gru")
    return [(rng.normal(size=shape) / 2).astype(dtype) for shape in shapes]


EVERY_OPERAND = [
    (cell, place)
    for cell in GATES
    for place in range(len(operands(cell, np.random.default_rng(0))))
]
"""Each cell with the number of each of its operands."""


def state_count(cell: str) -> int:
    return 2 if cell == "lstm" else 1


def as_one(cell: str, **options: Any) -> Callable[..., Any]:
    return lambda *tensors: joined(*operation(cell)(*tensors, **options))


@every_engine
@every_cell
@pytest.mark.parametrize("lengths", [None, [2, 5, 0]])
def test_gradient_agrees_with_finite_differences(by, cell, lengths, rng):
    lengths = None if lengths is None else np.array(lengths)
    check_gradient(as_one(cell, lengths=lengths), *operands(cell, rng), by=by)


@pytest.mark.parametrize("cell", sorted(GATES.keys() - {"gru before"}))  # PyTorch has none
@pytest.mark.parametrize("size", [6, 64])
def test_value_and_gradient_are_those_of_the_module_of_pytorch(cell, size, rng, torch):
    """Its weights are ours turned over, and of its two biases only the last third of GRU's counts.

    64 columns are a stripe: see `unrolled`.
    """
    module = getattr(torch.nn, cell.upper())(4, size, batch_first=True).double()

    def theirs(x, *rest):
        states, (w, u, bias, *new) = rest[: state_count(cell)], rest[state_count(cell) :]
        second = torch.cat((torch.zeros_like(bias[size:]), *new)) if new else 0 * bias
        weights = {"weight_ih_l0": w.T, "weight_hh_l0": u.T, "bias_ih_l0": bias}
        layered = tuple(state[None] for state in states)
        outputs, last = torch.func.functional_call(
            module,
            weights | {"bias_hh_l0": second},
            (x, layered if len(layered) > 1 else layered[0]),
        )
        last = last if isinstance(last, tuple) else (last,)
        return joined(outputs, *(state[0] for state in last))

    arrays = operands(cell, rng, hidden=size)
    arrays[-3 - (cell == "gru") :] = [x / size**0.5 for x in arrays[-3 - (cell == "gru") :]]
    check_against_torch(as_one(cell), theirs, *arrays, value=1e-10)


@every_engine
@every_cell
def test_a_sequence_is_what_it_is_alone(by, cell, rng):
    lengths = np.array([3, 0, 5, 1])
    arrays = operands(cell, rng, batch=4)
    found = by.value(as_one(cell, lengths=lengths), *arrays)
    count = state_count(cell)
    for row, length in enumerate(lengths):
        alone = [x[row : row + 1] for x in arrays[: 1 + count]]
        alone[0] = alone[0][:, :length]
        expected = by.value(as_one(cell), *alone, *arrays[1 + count :])[0]
        np.testing.assert_allclose(found[row, :length], expected[:length], 1e-12, 1e-14)
        np.testing.assert_array_equal(found[row, length:5], 0)
        np.testing.assert_allclose(found[row, 5:], expected[length:], 1e-12, 1e-14)


@every_engine
@every_cell
def test_what_is_beyond_a_length_is_not_looked_at(by, cell, rng):
    arrays = operands(cell, rng)
    arrays[0][1, 2:] = np.nan
    function = as_one(cell, lengths=np.array([5, 2, 4]))
    value, gradients = by.gradients(
        function, weights_like(np.ones(function(*arrays).shape)), *arrays
    )
    assert np.isfinite(value).all()
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    np.testing.assert_array_equal(gradients[0][1, 2:], 0)


@every_engine
@every_cell
def test_a_sequence_of_length_zero_hands_its_state_on(by, cell, rng):
    arrays = operands(cell, rng)
    function = as_one(cell, lengths=np.zeros(3, int))
    value, gradients = by.gradients(function, np.ones_like(function(*arrays)), *arrays)
    np.testing.assert_array_equal(value[:, :5], 0)
    for place in range(state_count(cell)):
        np.testing.assert_array_equal(value[:, 5 + place], arrays[1 + place])
        np.testing.assert_array_equal(gradients[1 + place], 1)


@every_engine
@every_cell
def test_in_two_parts_with_the_state_carried_it_is_the_same(by, cell, rng):
    """Gradients too, for nothing is cut off: the state carries them back."""
    arrays = operands(cell, rng)
    count = state_count(cell)
    early, late = np.eye(5)[:, :2], np.eye(5)[:, 2:]

    def in_parts(*tensors):
        x, states, weights = tensors[0], tensors[1 : 1 + count], tensors[1 + count :]
        first, *states = operation(cell)(ops.matmul(early.T, x), *states, *weights)
        second, *states = operation(cell)(ops.matmul(late.T, x), *states, *weights)
        return joined(ops.matmul(early, first) + ops.matmul(late, second), *states)

    weights = weights_like(by.value(in_parts, *arrays))
    whole, parts = (by.gradients(f, weights, *arrays) for f in (as_one(cell), in_parts))
    for mine, wanted in zip((parts[0], *parts[1]), (whole[0], *whole[1]), strict=True):
        np.testing.assert_allclose(mine, wanted, 1e-10, 1e-12)


@every_engine
@every_cell
def test_gates_that_are_wide_open_or_shut_give_numbers(by, cell, rng):
    arrays = operands(cell, rng, dtype=np.float32)
    arrays[0] *= np.float32(1e30)
    weights = np.ones((3, 5 + state_count(cell), 6), np.float32)
    value, gradients = by.gradients(as_one(cell), weights, *arrays)
    assert np.abs(value).max() < 10
    assert all(np.isfinite(gradient).all() for gradient in gradients)


@every_engine
@every_cell
def test_each_result_alone_has_its_gradient(by, cell, rng):
    """Whatever nobody used is None to the operation."""
    for place in range(1 + state_count(cell)):
        check_gradient(lambda *xs, n=place: operation(cell)(*xs)[n], *operands(cell, rng), by=by)


@every_cell
def test_plain_arrays_are_not_recorded_and_one_recorded_input_is_enough(cell, rng):
    arrays = operands(cell, rng, dtype=np.float32)
    results = operation(cell)(*arrays)
    assert all(type(one) is np.ndarray and one.dtype == np.float32 for one in results)
    for place in range(len(arrays)):
        tape = Tape()
        given = list(arrays)
        given[place] = tape.watch(arrays[place])
        recorded = operation(cell)(*given)
        assert all(type(one) is TapeTensor for one in recorded)
        tape.backward(recorded[0])
        assert tape.gradient(given[place]).any()


@pytest.mark.parametrize("engine", ["numpy", pytest.param("torch", marks=needs_torch)])
@pytest.mark.parametrize(("cell", "place"), EVERY_OPERAND)
def test_what_does_not_fit_is_refused_in_one_line(cell, engine, place, rng):
    arrays = operands(cell, rng)
    arrays[place] = arrays[place][..., :-1]
    module = choose_engine(engine)
    like = module.empty((), module.from_array(np.zeros(1), _example(engine)))
    tensors = [module.from_array(x, like) for x in arrays]
    name, options = (cell, {}) if cell != "gru before" else ("gru", {"reset": "before"})
    with pytest.raises(ShapeError, match=r"^\w+ must be \([^\n]*; got [^\n]*$"):
        getattr(module, name)(*tensors, **options)


def _example(engine: str) -> Any:
    if engine == "numpy":
        return np.zeros(1)
    import torch

    return torch.zeros(1, dtype=torch.float64)


@every_cell
@pytest.mark.parametrize(
    ("lengths", "told"),
    [
        ([1, 2], "one whole number for each of 3"),
        ([1.0, 2.0, 3.0], "whole number"),
        ([1, 2, 6], r"0 … 5.* got 1 … 6"),
        ([-1, 2, 3], r"got -1 … 3"),
    ],
)
def test_lengths_that_cannot_be_are_refused(cell, lengths, told, rng):
    name, options = (cell, {}) if cell != "gru before" else ("gru", {"reset": "before"})
    engine_own = getattr(choose_engine("numpy"), name)
    with pytest.raises(ShapeError, match=told):
        engine_own(*operands(cell, rng), lengths=np.array(lengths), **options)


@every_engine
def test_a_reset_that_there_is_not_is_refused(by, rng):
    arrays = [by.tensor(x) for x in operands("gru", rng)]
    with pytest.raises(ConfigurationError, match=r"after.*before.*between"):
        ops.gru(*arrays, reset="between")
    with pytest.raises(ConfigurationError, match="bias_new must be None"):
        ops.gru(*arrays, reset="before")


@every_engine
@pytest.mark.parametrize("shape", [(5,), (-1, 4), (-1, -1), (2, -3), (0, -1)])
def test_numbers_that_do_not_fit_into_a_shape_are_refused(by, shape):
    x = by.tensor(np.zeros((2, 3)))
    with pytest.raises(ShapeError, match="the 6 numbers"):
        ops.reshape(x, shape)


@every_engine
def test_a_sigmoid_keeps_its_digits_far_below_zero(by):
    x = np.array([-700.0, -40, -1, 0, 1, 40, 700])
    np.testing.assert_allclose(by.value(ops.sigmoid, x), 1 / (1 + np.exp(-x)), 1e-14)


@pytest.mark.parametrize(
    ("inner", "columns", "times"),
    [(7, 128, 9), (7, 128, 1), (7, 100, 9), (7, 60, 9), (8192, 128, 9), (8194, 100, 9)],
)
def test_a_product_in_stripes_is_the_product(inner, columns, times, rng):
    rows, weight = rng.normal(size=(5, inner)), rng.normal(size=(inner, columns))
    for given in (weight, np.asfortranarray(weight)):
        room = np.full((5, 2 * columns), np.nan)
        found = repeated(given, times, 6)(rows, room[:, :columns])
        np.testing.assert_allclose(found, rows @ weight, 1e-12, 1e-12)
        assert np.shares_memory(found, room)
        assert np.isnan(room[:, columns:]).all()


@needs_torch
@every_cell
def test_a_processor_warns_of_nothing(cell, rng, torch):
    """Warnings are errors here; weights that are not of one piece would be worth one on a GPU."""
    leaves = [torch.from_numpy(x).requires_grad_() for x in operands(cell, rng)]
    operation(cell)(*leaves)[0].sum().backward()
    assert all(leaf.grad.abs().sum() > 0 for leaf in leaves)


@needs_torch
@every_cell
def test_states_of_16_bits_are_carried_in_float32(cell, rng, torch):
    arrays = [torch.from_numpy(x).bfloat16() for x in operands(cell, rng, seq=50)]
    for narrow, wide in zip(
        operation(cell)(*arrays), operation(cell)(*(x.float() for x in arrays)), strict=True
    ):
        assert narrow.dtype == torch.bfloat16
        assert torch.equal(narrow, wide.bfloat16())
    mixed = operation(cell)(arrays[0].float(), *arrays[1:])
    assert all(one.dtype == torch.float32 for one in mixed)
