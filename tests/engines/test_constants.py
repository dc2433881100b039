"""What needs no gradient crosses over to PyTorch once, and what is kept is never out of date."""

import gc
import weakref

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.dispatch import engine_of
from clearformer.engines.mask import causal_mask
from clearformer.models.positions import rotary_turns, sinusoidal_positions

torch = pytest.importorskip("torch", reason="crossing over to PyTorch needs it (extra torch)")

from clearformer.engines.torch import constants  # noqa: E402  # after the question whether it can
from clearformer.engines.torch.constants import KEPT, constant  # noqa: E402

LIKE = torch.zeros(1)


def table(*numbers: float) -> np.ndarray:
    """An array that nobody may write to."""
    made = np.array(numbers, np.float64)
    made.flags.writeable = False
    return made


def test_a_table_crosses_over_once():
    array = table(1, 2, 3)
    assert constant(array, LIKE) is constant(array, LIKE)
    assert constant(array[1:], LIKE) is constant(array[1:], LIKE)
    assert constant(array[1:], LIKE) is not constant(array[:2], LIKE)


def test_the_tables_of_the_library_are_such_tables():
    for made in (causal_mask(3, 3), rotary_turns(8, 4), sinusoidal_positions(8, 4)):
        assert constant(made[1:3], LIKE) is constant(made[1:3], LIKE)


def test_what_can_be_written_to_crosses_over_anew():
    array = np.ones(3)
    before = constant(array, LIKE).clone()
    array[0] = 5
    after = constant(array, LIKE)
    assert (before[0], after[0]) == (1, 5)


def test_a_view_that_cannot_be_written_to_is_no_table_while_its_base_can():
    base = np.ones(3)
    view = base[:]
    view.flags.writeable = False
    spread = np.broadcast_to(base, (2, 3))  # read-only too
    assert constant(view, LIKE)[0] == constant(spread, LIKE)[0, 0] == 1
    base[0] = 5
    assert constant(view, LIKE)[0] == constant(spread, LIKE)[0, 0] == 5


def test_memory_that_is_not_numpys_is_no_table():
    """Whoever owns it may write to it, whatever the array says."""
    owner = bytearray(np.ones(3).tobytes())
    view = np.frombuffer(owner)
    view.flags.writeable = False
    assert constant(view, LIKE)[0] == 1
    owner[:8] = np.float64(5).tobytes()
    assert constant(view, LIKE)[0] == 5


def test_a_table_at_the_place_of_one_that_was_freed_is_another_table():
    """Arrays are kept together with their tensors, so that no place is used again meanwhile."""
    constants._kept.cache_clear()
    for number in range(200):  # more than are kept, so that places do come back
        array = table(number, -number)
        assert constant(array, LIKE).tolist() == [number, -number]
        del array


def test_no_more_tables_are_kept_than_said():
    tables = [table(number) for number in range(2 * KEPT)]
    kept = [weakref.ref(constant(array, LIKE)) for array in tables]
    gc.collect()
    assert sum(tensor() is not None for tensor in kept) <= KEPT


def test_a_table_is_kept_for_each_type_by_itself():
    array = table(1, 2)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for _ in range(2):
            assert constant(array, torch.zeros(1, dtype=dtype)).dtype == dtype


def test_arrays_of_one_place_that_are_read_differently_are_two_tables():
    array = np.arange(4.0).reshape(2, 2).copy()
    array.flags.writeable = False
    for view in (array, array.T, array.ravel(), array[:, ::2], array.view(np.int64)):
        expected = view.astype(np.float32) if view.dtype.kind == "f" else view
        assert constant(view, LIKE).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("dtype", "wide"), [(torch.float32, torch.complex64), (torch.float64, torch.complex128),
                        (torch.bfloat16, torch.complex64)]
)  # fmt: skip
def test_complex_numbers_are_as_precise_as_what_they_meet(dtype, wide):
    turn = np.exp(1j * np.arange(3.0))
    assert constant(turn, torch.zeros(1, dtype=dtype)).dtype == wide


@pytest.mark.parametrize("array", [np.array([True, False]), np.arange(3), np.uint16([7])])
def test_truth_values_and_whole_numbers_stay(array):
    assert constant(array, LIKE).tolist() == array.tolist()
    assert str(constant(array, LIKE).dtype).removeprefix("torch.") == array.dtype.name


def test_fractions_beside_whole_numbers_stay_fractions():
    assert constant(np.array([0.5]), torch.zeros(1, dtype=torch.int64)).tolist() == [0.5]


def test_a_tensor_passes_unchanged():
    ids = torch.arange(3)
    assert constant(ids, LIKE) is ids


def test_what_was_kept_during_inference_serves_in_training():
    array = table(2, 3)
    with torch.inference_mode():
        ops.dropout(torch.ones(2), array)
    x = torch.ones(2, requires_grad=True)
    ops.dropout(x, array).sum().backward()
    assert x.grad.tolist() == [2, 3]


def test_ids_outside_the_table_are_refused_before_they_cross_over(monkeypatch):
    """On a GPU the look-up would fail long after, and without saying where."""
    from clearformer.errors import ShapeError

    def never(*_):
        raise AssertionError("nothing may be looked up")

    monkeypatch.setattr(torch.nn.functional, "embedding", never)
    monkeypatch.setattr(torch.nn.functional, "cross_entropy", never)
    monkeypatch.setattr(constants, "crossed", never)
    with pytest.raises(ShapeError, match=r"0 … 3; got 0 … 4"):
        ops.embed(np.array([0, 4]), torch.zeros(4, 2))
    with pytest.raises(ShapeError, match=r"0 … 3, or -100"):
        ops.cross_entropy(torch.zeros(2, 4), np.array([0, 4]))


def test_ids_and_targets_may_be_tensors_already():
    rng = np.random.default_rng(0)
    rows, ids = torch.from_numpy(rng.normal(size=(4, 3))), np.array([[1, 0], [3, 3]])
    assert torch.equal(ops.embed(torch.from_numpy(ids), rows), ops.embed(ids, rows))
    logits = torch.from_numpy(rng.normal(size=(2, 2, 4)))
    for targets in (ids, np.array([[1, -100], [3, 3]]), np.full((2, 2), -100)):
        found = ops.cross_entropy(logits, torch.from_numpy(targets))
        torch.testing.assert_close(found, ops.cross_entropy(logits, targets), rtol=0, atol=0)


def test_a_mask_may_be_a_tensor_already():
    qkv = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 4, 2)))
    mask = np.tri(4, dtype=bool)
    found = engine_of(qkv).attention(*qkv, mask=torch.from_numpy(mask))
    assert torch.equal(found, ops.attention(*qkv, mask=mask))
