"""The compiled way through norms and bends is the plain one, but for the order of sums."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.numpy import Learner
from clearformer.engines.numpy.norms import rms_norm
from clearformer.engines.tape import Tape
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.next_token import next_token_loss

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from clearformer.engines.numpy.compiled import rows

TURN = np.exp(1j * np.linspace(0, 3, 5 * 4).reshape(5, 4)).astype(np.complex64)


def heads(rng, batch=2, count=3, seq=5, width=8):
    """(batch, head, seq, width), the heads inside the positions."""
    return rng.normal(size=(batch, seq, count, width)).astype(np.float32).swapaxes(1, 2)


def found(compiled, function, arrays, received):
    tape = Tape(compiled=compiled)
    leaves = [tape.watch(x) for x in arrays]
    result = function(*leaves)
    tape.backward(result, received)
    return [result.data, *map(tape.gradient, leaves)]


def assert_both_ways_agree(function, arrays, received):
    plain, compiled = (found(way, function, arrays, received) for way in (False, True))
    for one, other in zip(plain, compiled, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(other, one, 2e-5, 2e-5)


@pytest.fixture
def counted(monkeypatch):
    """How often each kernel's caller was taken."""
    taken = []
    for name in ("rms_norm", "squared_relu", "rotate_unit"):
        plain = getattr(rows, name)
        monkeypatch.setattr(
            rows, name, lambda *a, name=name, plain=plain: taken.append(name) or plain(*a)
        )
    return taken


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (2, 5, 33), (3, 4, 128)])
def test_norms_agree(shape, rng, counted):
    x, received = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    gain = rng.normal(size=shape[-1]).astype(np.float32)
    assert_both_ways_agree(ops.rms_norm, [x, gain], received)
    assert_both_ways_agree(ops.rms_norm, [1e-4 * x, gain], received)
    assert counted == ["rms_norm"] * 2


@pytest.mark.parametrize("shape", [(1,), (7, 3), (2, 5, 33)])
def test_bends_agree(shape, rng, counted):
    x, received = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    assert_both_ways_agree(ops.squared_relu, [x], received)
    assert counted == ["squared_relu"]


def test_turned_heads_agree(rng, counted):
    x, received = heads(rng), heads(rng)
    assert_both_ways_agree(lambda x: ops.rotate_unit(x, TURN), [x], received)
    assert_both_ways_agree(lambda x: ops.rotate_unit(x, TURN), [x], np.ascontiguousarray(received))
    assert counted == ["rotate_unit"] * 2


def test_what_lies_otherwise_takes_the_plain_way(rng, counted):
    received = rng.normal(size=(4, 6))
    wide = rng.normal(size=(4, 6))
    apart = rng.normal(size=(4, 12)).astype(np.float32)[:, ::2]
    for x in (wide, apart):
        assert_both_ways_agree(ops.squared_relu, [x], received.astype(x.dtype))
        gain = np.ones(6, x.dtype)
        assert_both_ways_agree(ops.rms_norm, [x, gain], received.astype(x.dtype))
    side_by_side = np.ascontiguousarray(heads(rng))
    assert_both_ways_agree(lambda x: ops.rotate_unit(x, TURN), [side_by_side], heads(rng))
    assert counted == []


def test_a_gain_of_one_number_is_repeated(rng):
    x, received = (rng.normal(size=(3, 8)).astype(np.float32) for _ in range(2))
    assert_both_ways_agree(rms_norm, [x, np.full(1, 2, np.float32)], received)


@pytest.mark.parametrize("size", [4, 9, 0])
def test_a_gain_of_another_size_is_refused(size, rng):
    x, gain = rng.normal(size=(3, 8)).astype(np.float32), np.ones(size, np.float32)
    for compiled in (False, True):
        with pytest.raises(ValueError, match="broadcast"):
            found(compiled, rms_norm, [x, gain], x)


def test_an_odd_width_is_not_turned(rng):
    for compiled in (False, True):
        with pytest.raises(ValueError, match="divisor"):
            found(compiled, lambda x: ops.rotate_unit(x, TURN[:, :3]), [heads(rng, width=7)], 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_comes_out_so(bad, rng):
    x = rng.normal(size=(3, 8)).astype(np.float32)
    x[1, 2] = bad
    received, gain = np.ones_like(x), np.ones(8, np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for function, inputs in ((ops.squared_relu, [x]), (ops.rms_norm, [x, gain])):
            plain, compiled = (found(way, function, inputs, received) for way in (False, True))
            for one, other in zip(plain, compiled, strict=True):
                assert not (np.isfinite(other) & ~np.isfinite(one)).any()
                assert np.isfinite(other[0]).all() or other.ndim == 1  # other rows as they are


@pytest.mark.parametrize("switch", ["always", "never"])
def test_evaluations_take_kernels_while_a_learner_that_has_them_is_running(
    switch, rng, counted, monkeypatch
):
    monkeypatch.setenv("CLEARFORMER_COMPILED", switch)
    made = ModelConfiguration(11, layers=1, heads=2, embed=16, context=8)
    ids = rng.integers(11, size=(3, 8))
    learner = Learner(build_decoder(made, rng), next_token_loss, 1)

    def loss():
        counted.clear()
        return next_token_loss(learner.model, ids, ids), set(counted)

    before, of_arrays = loss()
    assert of_arrays == set()
    with learner.running():
        inside, taken = loss()
        with ThreadPoolExecutor(1) as pool:
            on_another_thread = pool.submit(loss).result()
    kernels = {"rms_norm", "squared_relu", "rotate_unit"} if switch == "always" else set()
    assert taken == on_another_thread[1] == kernels
    assert loss() == (before, set())
    np.testing.assert_allclose(inside, before, 1e-6)


@pytest.mark.parametrize(
    ("recipe", "without"),
    [("modern", set()), ("classic", {"rms_norm", "squared_relu", "rotate_unit"})],
)
def test_a_whole_decoder_learns_the_same(recipe, without, rng, counted):
    made = ModelConfiguration(11, layers=2, heads=2, embed=16, context=8, recipe=recipe)
    model = build_decoder(made, rng)
    inputs, targets = rng.integers(11, size=(2, 3, 8))

    def loss_and_gradients(compiled):
        tape = Tape(compiled=compiled)
        watched = model.with_parameters(lambda _, array: tape.watch(array))
        loss = next_token_loss(watched, inputs, targets, None)
        tape.backward(loss)
        return loss.data, {n: tape.gradient(p) for n, p in watched.parameters().items()}

    (plain, expected), (compiled, gradients) = map(loss_and_gradients, (False, True))
    np.testing.assert_allclose(compiled, plain, 1e-6)
    for name, gradient in expected.items():
        np.testing.assert_allclose(gradients[name], gradient, 1e-4, 1e-6, err_msg=name)
    assert set(counted) == ({"rms_norm", "squared_relu", "rotate_unit"} - without)
