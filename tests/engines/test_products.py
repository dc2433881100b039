"""Laws of products in pieces: they are the product, whatever lies how, and only where they pay."""

import numpy as np
import pytest

from clearformer.engines import threads
from clearformer.engines.numpy import products
from clearformer.engines.numpy.products import SMALL, matrix_product
from clearformer.engines.threads import limit, one_blas_thread

SHAPES = [
    (384, 128, 512), (384, 512, 128), (385, 128, 512), (100, 128, 128), (391, 512, 128),
    (64, 64, 32), (1, 128, 512), (7, 3, 5), (384, 128, 65), (256, 900, 64), (128, 2000, 512),
    (3000, 500, 700), (0, 4, 4), (4, 0, 4), (1100, 384, 768), (1027, 700, 128), (1024, 2500, 64),
]  # fmt: skip


@pytest.fixture
def pays(monkeypatch):
    """As on a processor with small kernels, whatever this one is."""
    monkeypatch.setattr(limit, "small_products", True)


def drawn(rng, rows, columns, turned, lead=()):
    """Float32; lying on its side if `turned`."""
    if turned:
        return drawn(rng, columns, rows, False, lead).swapaxes(-1, -2)
    return rng.normal(size=(*lead, rows, columns)).astype(np.float32)


def assert_product(found, a, b):
    scale = np.sqrt(max(a.shape[-1], 1))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(found, expected, 1e-4, 2e-6 * scale)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("b_turned", [False, True])
@pytest.mark.parametrize("a_turned", [False, True])
def test_pieces_make_the_product(pays, rng, shape, a_turned, b_turned):
    rows, inner, columns = shape
    a, b = drawn(rng, rows, inner, a_turned), drawn(rng, inner, columns, b_turned)
    before = a.copy(), b.copy()
    assert_product(matrix_product(a, b), a, b)
    room = np.full((rows, columns), np.nan, np.float32)
    assert matrix_product(a, b, out=room) is room
    assert_product(room, a, b)
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@pytest.mark.parametrize("shape", [(64, 64, 32), (256, 64, 256), (250, 64, 256), (256, 256, 64)])
@pytest.mark.parametrize("b_turned", [False, True])
@pytest.mark.parametrize("a_turned", [False, True])
def test_several_products_at_once(pays, rng, shape, a_turned, b_turned):
    """Heads that lie inside positions, as in attention."""
    rows, inner, columns = shape
    a = drawn(rng, rows, inner, a_turned, (2, 3))
    b = drawn(rng, inner, columns, b_turned, (2, 3))
    room = np.empty((2, rows, 3, columns), np.float32).swapaxes(1, 2)
    assert_product(matrix_product(a, b, out=room), a, b)
    assert_product(matrix_product(a, b), a, b)
    assert_product(matrix_product(a, b[:1]), a, np.broadcast_to(b[:1], b.shape))


def test_a_result_among_others_leaves_these_alone(pays, rng):
    a, b = drawn(rng, 384, 128, False), drawn(rng, 128, 256, False)
    room = np.zeros((384, 512), np.float32)
    matrix_product(a, b, out=room[:, 100:356])
    assert_product(room[:, 100:356], a, b)
    assert not room[:, :100].any()
    assert not room[:, 356:].any()


MISTAKES = [
    ((256, 128), (256, 512), None, (False, False)), ((384, 128), (64, 512), None, (False, False)),
    ((256, 128), (64, 128), None, (False, True)), ((256, 512), (512, 64), (257, 64), (False, True)),
    ((384, 128), (128, 512), (384, 513), (False, False)),
    ((2, 256, 128), (3, 128, 512), None, (False, False)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "room", "turned"), MISTAKES)
def test_a_wrong_shape_is_refused_in_the_same_words(pays, left, right, room, turned):
    a, b = (
        np.ones(shape[::-1], np.float32).T if side else np.ones(shape, np.float32)
        for shape, side in zip((left, right), turned, strict=True)
    )
    out = None if room is None else np.zeros(room, np.float32)
    raised = []
    for product in (np.matmul, matrix_product):
        with pytest.raises(ValueError, match=r"matmul|broadcast") as refused:
            product(a, b, out=out)
        raised.append(str(refused.value))
    assert raised[0] == raised[1]


def test_a_row_of_numbers_is_multiplied_as_matmul_does(pays, rng):
    a, row = drawn(rng, 384, 128, False), np.ones(128, np.float32)
    np.testing.assert_array_equal(matrix_product(a, row), a @ row)


@pytest.mark.parametrize("lead", [(0,), (2, 0)])
def test_no_products_at_all_are_an_empty_result(pays, lead):
    a, b = np.empty((*lead, 384, 128), np.float32), np.empty((*lead, 128, 512), np.float32)
    assert matrix_product(a, b).shape == (*lead, 384, 512)


@pytest.mark.parametrize("rows", [100, 256, 1100])
def test_a_result_may_take_the_place_of_what_is_multiplied(pays, rng, rows):
    for side, part in ((0, slice(None, None, -1)), (1, slice(None, rows))):
        given = drawn(rng, rows, 256, False), drawn(rng, 256, 256, False)
        a, b = given[0].copy(), given[1].copy()
        room = given[side][part]
        if len(room) == rows:
            assert_product(matrix_product(*given, out=room), a, b)


@pytest.mark.parametrize("rows", range(1, 400, 7))
def test_no_piece_is_too_large(rows):
    for inner, columns in ((128, 512), (512, 128), (64, 64), (900, 32), (384, 384)):
        for a_turned, b_turned in ((False, False), (True, False), (False, True), (True, True)):
            height, width, _ = products._piece(5 * rows, inner, columns, a_turned, b_turned)
            assert height * width * inner <= SMALL
            assert not height or columns % width == 0


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_a_column_times_a_row_is_their_product(kind, rng):
    a, b = (rng.integers(-9, 9, shape).astype(kind) for shape in ((2, 5, 1), (2, 1, 7)))
    np.testing.assert_array_equal(matrix_product(a, b), a @ b)
    with pytest.raises(ValueError, match="mismatch"):
        matrix_product(a, b.swapaxes(1, 2))


def test_other_numbers_and_several_threads_take_the_plain_way(monkeypatch, rng):
    a, b = rng.normal(size=(384, 128)), rng.normal(size=(128, 512))
    monkeypatch.setattr(products, "_piece", None)
    monkeypatch.setattr(threads, "small_products_pay", lambda: True)
    assert not limit.small_products
    narrow = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(matrix_product(*narrow), narrow[0] @ narrow[1])
    with one_blas_thread():
        assert limit.small_products
        np.testing.assert_array_equal(matrix_product(a, b), a @ b)
        with pytest.raises(TypeError):
            matrix_product(*narrow)


def test_pieces_pay_only_while_one_thread_multiplies(monkeypatch):
    for there in (True, False):
        monkeypatch.setattr(threads, "small_products_pay", lambda there=there: there)
        with one_blas_thread():
            with one_blas_thread():
                assert limit.small_products is there
            assert limit.small_products is there
        assert not limit.small_products
