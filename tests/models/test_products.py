"""The count of products is that of the model's own matrices, and what PyTorch really multiplies."""

from types import ModuleType

import numpy as np
import pytest

from clearformer import ops
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.products import matrices, product_shapes, step_flops
from clearformer.models.tap import Recorder
from models.decoders import VARIANTS, every_variant


@pytest.fixture
def torch() -> ModuleType:
    return pytest.importorskip("torch", reason="counting products needs PyTorch (extra torch)")


@every_variant
def test_every_matrix_of_the_model_multiplies_once(configuration):
    shapes = [
        array.shape if name != "embedding.table" else array.shape[::-1]
        for name, array in build_decoder(configuration, None).parameters().items()
        if array.ndim > 1 and (name != "embedding.table" or configuration.tied)
    ]
    assert sorted(shapes) == sorted(matrices(configuration))


@every_variant
def test_products_backwards_are_twice_as_much_as_forwards(configuration):
    work = [many * rows * inner * columns for many, rows, inner, columns in
            product_shapes(configuration, 3)]  # fmt: skip
    assert work[::3] == work[1::3] == work[2::3]


@every_variant
def test_it_is_6_n_and_12_layers_context_embed_per_token(configuration):
    """Kaplan's 6 N, with PaLM's term for attention."""
    c = configuration.completed
    multiplied = sum(inputs * outputs for inputs, outputs in matrices(c))
    per_token = 6 * multiplied + 12 * c.layers * c.context * c.embed
    assert step_flops(c, 5) == 5 * c.context * per_token


@pytest.mark.parametrize("name", ["the modern recipe", "the classic recipe", *list(VARIANTS)[2:8]])
def test_it_is_what_pytorch_multiplies(torch, name):
    """Counted while a step runs, with attention step by step: the fused one is not counted."""
    from torch.utils.flop_counter import FlopCounterMode

    configuration = VARIANTS[name]
    arrays = build_decoder(configuration, np.random.default_rng(0))
    model = arrays.with_parameters(lambda _, array: torch.tensor(array, requires_grad=True))
    ids = np.random.default_rng(1).integers(configuration.vocabulary, size=(2, 3, 8))
    with FlopCounterMode(display=False) as counter:
        ops.cross_entropy(model(ids[0], tap=Recorder()), ids[1]).backward()
    assert counter.get_total_flops() == step_flops(configuration, 3)


def test_it_is_exact_where_64_bits_would_not_be():
    huge = ModelConfiguration(2**40, layers=2, heads=1, embed=2**40, context=2**40)
    assert step_flops(huge, 1) > 2**120
    assert step_flops(huge, 1) % 6 == 0
