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


@pytest.mark.parametrize("rows", range(1, 400, 7))
def test_no_piece_is_too_large(rows):
    for inner, columns in ((128, 512), (512, 128), (64, 64), (900, 32), (384, 384)):
        for a_turned, b_turned in ((False, False), (True, False), (False, True), (True, True)):
            height, width, _ = products._piece(5 * rows, inner, columns, a_turned, b_turned)
            assert height * width * inner <= SMALL
            assert not height or columns % width == 0


def test_other_numbers_and_several_threads_take_the_plain_way(monkeypatch, rng):
    a, b = rng.normal(size=(384, 128)), rng.normal(size=(128, 512))
    monkeypatch.setattr(products, "_piece", None)
    monkeypatch.setattr(threads, "_has_small_kernels", lambda: True)
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
        monkeypatch.setattr(threads, "_has_small_kernels", lambda there=there: there)
        with one_blas_thread():
            with one_blas_thread():
                assert limit.small_products is there
            assert limit.small_products is there
        assert not limit.small_products
