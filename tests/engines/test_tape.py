"""The laws of the tape."""

from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import mutually_broadcastable_shapes

from clearformer import ops
from clearformer.engines.tape import (
    Tape,
    TapeTensor,
    record_several,
    undo_broadcasting,
    value_and_gradients,
)
from engines.proofs import check_gradient, few_examples, weights_like


@few_examples
@given(shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=3, min_side=0))
def test_undoing_a_broadcast_is_its_adjoint(shapes):
    """<broadcast(x), g> = <x, undo(g)>."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=shapes.input_shapes[0])
    gradient = rng.normal(size=shapes.result_shape)
    undone = undo_broadcasting(gradient, x.shape)
    assert undone.shape == x.shape
    np.testing.assert_allclose(
        (np.broadcast_to(x, gradient.shape) * gradient).sum(), (x * undone).sum(), 1e-9, 1e-12
    )


USES_ONE_TENSOR_OFTEN = {
    "x + x": lambda x: x + x,
    "x · x · x": lambda x: x * x * x,
    "x xᵀ": lambda x: ops.matmul(x, ops.transpose(x)),
    "xᵀ x": lambda x: ops.matmul(ops.transpose(x), x),
    "x + softmax(x) x": lambda x: x + ops.softmax(x) * x,
    "linear(x, x)": lambda x: ops.linear(x, x),
    "attention(x, x, x)": lambda x: ops.attention(x, x, x, causal=True),
    "attention(x, y, y)": lambda x: ops.attention(x, ops.gelu(x), ops.gelu(x), scale=30.0),
    "a residual stream": lambda x: ops.silu(y := x + ops.gelu(x)) + y * x,
}


@pytest.mark.parametrize("function", USES_ONE_TENSOR_OFTEN.values(), ids=USES_ONE_TENSOR_OFTEN)
def test_a_tensor_used_many_times_collects_every_gradient(function, rng):
    check_gradient(function, rng.normal(size=(3, 3)))


def test_a_row_used_as_gain_and_bias_collects_both(rng):
    check_gradient(
        lambda x, row: ops.layer_norm(x, row, row), rng.normal(size=(2, 4)), rng.normal(size=4)
    )


def test_a_thousand_uses_add_up():
    tape = Tape()
    x = tape.watch(np.ones(2))
    total = x
    for _ in range(999):
        total = total + x
    tape.backward(total)
    np.testing.assert_array_equal(tape.gradient(x), [1000, 1000])


def test_a_leaf_without_influence_has_gradient_zero(rng):
    x, unused = rng.normal(size=(2, 3)), rng.normal(size=(4, 1)).astype(np.float32)
    _, (to_x, to_unused) = value_and_gradients(lambda x, unused: ops.gelu(x), x, unused)
    assert to_x.any()
    np.testing.assert_array_equal(to_unused, np.zeros_like(unused), strict=True)


def test_a_side_branch_has_no_influence(rng):
    tape = Tape()
    x = tape.watch(rng.normal(size=3))
    result = x + x
    ops.gelu(x)  # recorded, and led nowhere
    tape.backward(result)
    np.testing.assert_array_equal(tape.gradient(x), [2, 2, 2])


def test_a_function_that_ignores_its_inputs_has_gradient_zero():
    value, (gradient,) = value_and_gradients(lambda x: np.ones(2), np.ones(3))
    np.testing.assert_array_equal(value, [1, 1])
    np.testing.assert_array_equal(gradient, np.zeros(3), strict=True)


def test_the_function_that_returns_its_input_has_gradient_one():
    _, (gradient,) = value_and_gradients(lambda x: x, np.ones(3))
    np.testing.assert_array_equal(gradient, np.ones(3))


@pytest.mark.parametrize("seed", [1.0, -2.5, np.array([[1.0, 2.0], [0.0, -1.0]])])
def test_the_seed_weights_the_result(seed):
    tape = Tape()
    x = tape.watch(np.ones((2, 2)))
    tape.backward(x + x, seed)
    np.testing.assert_array_equal(tape.gradient(x), np.broadcast_to(2 * np.asarray(seed), (2, 2)))


def test_a_gradient_is_linear_in_what_it_receives(rng):
    """A gradient function that changed what it was given, or kept it, would break this."""
    x = rng.normal(size=(3, 4))
    parts = rng.normal(size=(2, 3, 4))

    def gradient(seed: np.ndarray) -> np.ndarray:
        tape = Tape()
        leaf = tape.watch(x)
        tape.backward(ops.rms_norm(ops.gelu(leaf) + leaf), seed)
        return tape.gradient(leaf)

    np.testing.assert_allclose(
        gradient(parts.sum(0)), gradient(parts[0]) + gradient(parts[1]), 1e-9
    )


def test_arrays_meet_recorded_tensors_on_either_side_of_a_sign(rng):
    x, y = rng.normal(size=(2, 3))
    for function, to_x in (
        (lambda x: x + y, np.ones(3)),
        (lambda x: y + x, np.ones(3)),
        (lambda x: x * y, y),
        (lambda x: y * x, y),
    ):
        value, (gradient,) = value_and_gradients(function, x)
        np.testing.assert_array_equal(value, function(x))
        np.testing.assert_array_equal(gradient, to_x)


WITH_A_NUMBER = {
    "x · 0.5": lambda x: x * 0.5,
    "0.5 · x": lambda x: 0.5 * x,
    "x + 1": lambda x: x + 1,
    "2 + x": lambda x: 2 + x,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", WITH_A_NUMBER.values(), ids=WITH_A_NUMBER)
def test_a_plain_number_does_not_change_the_type(function, dtype):
    x = np.ones((2, 2), dtype)
    value, (gradient,) = value_and_gradients(function, x)
    np.testing.assert_array_equal(value, function(x), strict=True)
    assert gradient.dtype == dtype


def test_a_tape_can_be_used_again_after_forgetting(rng):
    tape = Tape()
    x = tape.watch(rng.normal(size=3))
    for _ in range(3):
        tape.backward(ops.gelu(x) * x, weights_like(x))
        gradient = tape.gradient(x)
        tape.forget(1)
        assert len(tape) == 1
        assert not tape.gradient(x).any()
    _, (expected,) = value_and_gradients(lambda x: ops.gelu(x) * x * weights_like(x), x.data)
    np.testing.assert_allclose(gradient, expected, 1e-12)


@pytest.mark.parametrize("uses", [1, 2, 3])
def test_a_gradient_is_written_where_there_is_room_and_added_up_elsewhere(uses, rng):
    x, weight, room = rng.normal(size=(5, 4)), rng.normal(size=(4, 4)), np.full((4, 4), np.nan)

    def function(weight):
        result = x
        for _ in range(uses):
            result = ops.linear(result, weight)
        return result

    _, (wanted,) = value_and_gradients(function, weight)
    tape = Tape()
    leaf = tape.watch(weight)
    tape.lend({leaf.index: room})
    tape.backward(function(leaf))
    assert (tape.gradient(leaf) is room) == (uses == 1)
    np.testing.assert_array_equal(tape.gradient(leaf), wanted)


def test_two_tapes_in_two_threads_do_not_disturb_each_other(rng):
    arrays = rng.normal(size=(2, 8, 8))
    barrier = Barrier(2, timeout=60)

    def chain(x: TapeTensor, wait: bool = False) -> TapeTensor:
        for _ in range(10):
            if wait:
                barrier.wait()
            x = ops.rms_norm(ops.matmul(ops.gelu(x), x) + x)
        return x

    expected = [value_and_gradients(chain, x) for x in arrays]
    found: dict[int, object] = {}

    def work(place: int) -> None:
        found[place] = value_and_gradients(lambda x: chain(x, wait=True), arrays[place])

    threads = [Thread(target=work, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place in (0, 1):
        value, (gradient,) = found[place]
        np.testing.assert_array_equal(value, expected[place][0])
        np.testing.assert_array_equal(gradient, expected[place][1][0])


def test_tensors_of_two_tapes_are_not_mixed(rng):
    """Places on one tape mean nothing on another: the gradients would be silently wrong."""
    x, y = (Tape().watch(array) for array in rng.normal(size=(2, 3)))
    with pytest.raises(ValueError, match="tape"):
        ops.add(x, y)


def test_running_backwards_twice_is_refused():
    """The records are used up by the first run: a second one would silently give zeros."""
    tape = Tape()
    x = tape.watch(np.ones(3))
    result = x * x
    tape.backward(result)
    with pytest.raises(ValueError, match="backward"):
        tape.backward(result)


def halves(x: TapeTensor, met: list[tuple[object, ...]]) -> tuple[TapeTensor, ...]:
    """An operation with two results, 2x and 3x, that notes what it receives."""

    def gradient(*grads):
        met.append(tuple(None if g is None else g.copy() for g in grads))
        total = np.zeros(2)
        for factor, grad in zip((2, 3), grads, strict=True):
            total += 0 if grad is None else factor * grad
        return (total,)

    return record_several("halves", (2 * x.data, 3 * x.data), (x,), gradient)


@pytest.mark.parametrize(
    ("function", "received", "expected"),
    [
        (lambda a, b: a, (1, None), 2),
        (lambda a, b: b, (None, 1), 3),
        (lambda a, b: a + b, (1, 1), 5),
        (lambda a, b: a + a + b * b, (2, 6), 22),
    ],
)
def test_an_operation_with_several_results_receives_all_gradients_at_once(
    function, received, expected
):
    met, tape = [], Tape()
    x = tape.watch(np.ones(2))
    tape.backward(function(*halves(x, met)))
    (grads,) = met
    for grad, wanted in zip(grads, received, strict=True):
        assert (grad is None) if wanted is None else (grad == wanted).all()
    np.testing.assert_array_equal(tape.gradient(x), np.full(2, expected))


def test_an_operation_with_several_results_that_nobody_used_is_not_asked():
    met, tape = [], Tape()
    x = tape.watch(np.ones(2))
    result = x + x
    halves(x, met)
    tape.backward(result)
    assert met == []
    np.testing.assert_array_equal(tape.gradient(x), [2, 2])


def test_several_results_of_plain_arrays_are_plain_arrays():
    results = record_several("any", (np.ones(2), 1.0), (np.ones(2),), lambda *_: ())
    assert [type(one) for one in results] == [np.ndarray, np.ndarray]


def test_tensors_of_pytorch_give_tensors_and_the_same_numbers(rng):
    torch = pytest.importorskip("torch", reason="its tensors need PyTorch (extra torch)")
    x, unused = rng.normal(size=(2, 3)), rng.normal(size=2)
    value, gradients = value_and_gradients(lambda x, _: ops.softmax(x) * x, x, unused)
    tensors = [torch.from_numpy(each.copy()) for each in (x, unused)]
    found, slopes = value_and_gradients(lambda x, _: ops.softmax(x) * x, *tensors)
    assert not any(each.requires_grad for each in (*tensors, found, *slopes))
    for mine, wanted in zip((found, *slopes), (value, *gradients), strict=True):
        np.testing.assert_allclose(mine.numpy(), wanted, 1e-13, 1e-15)


@pytest.mark.parametrize("operation", [ops.multiply, ops.matmul])
def test_what_lies_on_no_tape_costs_no_gradient(operation, rng):
    """Neither is it computed, nor is kept what only it would need."""
    tape, constant = Tape(), rng.normal(size=(3, 3))
    leaf = tape.watch(rng.normal(size=(3, 3)))
    for inputs, place in (((leaf, constant), 1), ((constant, leaf), 0)):
        operation(*inputs)
        received = tape._records[-1].gradient(np.ones((3, 3)))
        assert [part is None for part in received] == [place == 0, place == 1]
