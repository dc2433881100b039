"""What lies in a GPU's memory: exact in its parts, and less of it the more GPUs share."""

from itertools import pairwise

import numpy as np
import pytest

from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.gpu_memory import Parameters, gpu_memory
from models.decoders import every_variant

MODEL = ModelConfiguration(500, layers=8, heads=4, embed=64, context=32)


@every_variant
def test_parameters_are_those_of_the_model(configuration):
    built = build_decoder(configuration, None).parameters()
    counted = Parameters.of(configuration)
    layers = sum(array.size for name, array in built.items() if name.startswith("blocks."))
    assert counted.whole == sum(array.size for array in built.values())
    assert counted.in_matrices == sum(array.size for array in built.values() if array.ndim > 1)
    assert counted.in_layer * configuration.layers == layers
    assert counted.outside == counted.whole - layers


def test_in_float32_a_parameter_takes_16_bytes():
    memory = gpu_memory(MODEL, 1, "float32")
    state = memory.weights + memory.gradients + memory.optimizer
    assert state == 16 * MODEL.parameter_count
    assert memory.exchange == 0


def test_in_bfloat16_matrices_have_a_copy_of_2_bytes():
    matrices = Parameters.of(MODEL).in_matrices
    assert gpu_memory(MODEL, 1, "bfloat16").weights == 4 * MODEL.parameter_count + 2 * matrices


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_sharding_divides_the_16_bytes(precision):
    whole = 16 * MODEL.parameter_count
    for gpus in (2, 8, 64):
        memory = gpu_memory(MODEL, 1, precision, gpus=gpus, parallel="shard")
        state = memory.weights + memory.gradients + memory.optimizer
        assert whole / gpus <= state < whole / gpus + 4


def test_the_more_gpus_share_the_less_lies_on_each():
    totals = [
        gpu_memory(MODEL, 4, "bfloat16", gpus=gpus, parallel="shard").total for gpus in (2, 4, 64)
    ]
    assert all(more < fewer for fewer, more in pairwise(totals))


def test_one_gpu_has_nobody_to_share_with():
    assert gpu_memory(MODEL, 4, "bfloat16", parallel="shard") == gpu_memory(MODEL, 4, "bfloat16")


def test_activations_grow_with_the_rows_alone():
    one, two, four = (gpu_memory(MODEL, rows, "float32").activations for rows in (8, 16, 32))
    assert two == 2 * one
    assert four == 4 * one


def test_what_a_rank_lends_is_at_most_the_model_twice_over():
    """Weights in use and gradients on their way, each no more than there are."""
    for precision, number in (("float32", 4), ("bfloat16", 2)):
        lent = gpu_memory(MODEL, 1, precision, gpus=8, parallel="shard").exchange
        assert 0 < lent < (number + number + 4) * MODEL.parameter_count


def test_adding_up_before_an_exchange_costs_a_whole_gradient_where_weights_are_sharded():
    alone, added = (
        gpu_memory(MODEL, 1, "bfloat16", gpus=8, parallel="shard", accumulates=accumulates)
        for accumulates in (False, True)
    )
    assert added.total - alone.total == 4 * MODEL.parameter_count


def test_it_is_exact_where_floats_are_not():
    huge = ModelConfiguration(2**40, layers=2, heads=1, embed=2**40, context=2**40)
    total = gpu_memory(huge, 1, "float32").total
    assert isinstance(total, int)
    assert total > np.iinfo(np.uint64).max


def test_narrow_gradients_wait_for_the_last_part_and_take_the_place_of_activations():
    """As many numbers as the matrices have, of 2 bytes; only between processes do they wait."""
    narrow = 2 * Parameters.of(MODEL).in_matrices

    def gradients(**how):
        return gpu_memory(MODEL, 1, "bfloat16", **how).gradients

    assert gradients(gpus=2, accumulates=True) == gradients(gpus=2) + narrow
    assert gradients(accumulates=True) == gradients() == gradients(gpus=2)
    assert gpu_memory(MODEL, 0, "bfloat16").activations == narrow
    assert gpu_memory(MODEL, 10**6, "bfloat16").activations > narrow


def test_ddp_holds_what_it_exchanges():
    for precision in ("float32", "bfloat16"):
        sent = gpu_memory(MODEL, 1, precision, gpus=2).exchange
        assert sent == Parameters.of(MODEL).bytes(precision)
        assert gpu_memory(MODEL, 1, precision).exchange == 0
