"""What training will cost: laws of the arithmetic, and figures worked out by hand."""

from dataclasses import replace

import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.configuration import ModelConfiguration
from clearformer.text.ids import id_type
from clearformer.training.cluster import ACCELERATORS, Accelerator, Cluster
from clearformer.training.cost import Cost, advised_tokens, data_bytes, save_bytes
from clearformer.training.gpu_memory import USABLE, Parameters

CHIP = Accelerator("chip", 100e12, 10e12, 16 * 10**9, 1e12, 50e9)
MODEL = ModelConfiguration(1000, layers=4, heads=4, embed=256, context=128)
ONE = Cost(MODEL, Cluster(CHIP), 8)
EIGHT = replace(ONE, cluster=Cluster(CHIP, 8))

both_ways = pytest.mark.parametrize("parallel", ["replicate", "shard"])


def test_gpt_2_by_hand():
    """12 layers of 12 · 768² numbers, a table that is used twice, gains and a share of 768."""
    gpt = ModelConfiguration(50_257, layers=12, heads=12, embed=768, context=1024, tied=True)
    multiplied = 12 * 12 * 768**2 + 50_257 * 768
    assert gpt.parameter_count == multiplied + (2 * 12 + 2) * 768
    cost = Cost(gpt, Cluster(ACCELERATORS["A100"], 8), 16, utilisation=0.5)
    assert cost.flops_per_token == 6 * multiplied + 12 * 12 * 1024 * 768
    assert cost.tokens_per_step == 8 * 16 * 1024
    update = 28 * gpt.parameter_count / 2_039e9
    by_hand = 16 * 1024 * cost.flops_per_token / (0.5 * 312e12) + update
    assert cost.compute_seconds == pytest.approx(by_hand)
    assert advised_tokens(gpt) == 20 * gpt.parameter_count


def test_flops_grow_with_tokens_and_gpus_share_them():
    assert EIGHT.flops_per_step == 8 * ONE.flops_per_step
    assert replace(ONE, batch=16).flops_per_step == 2 * ONE.flops_per_step
    assert EIGHT.compute_seconds == ONE.compute_seconds


@both_ways
def test_one_gpu_sends_nothing(parallel):
    alone = replace(ONE, parallel=parallel)
    assert alone.traffic == 0
    assert alone.seconds == alone.quickest_seconds == alone.compute_seconds


def test_replicated_gradients_go_round_a_ring():
    """Each of n sends (n - 1) pieces of 1/n to be added up, and as many that are."""
    c = Parameters.of(MODEL)
    gradient = 2 * c.in_matrices + 4 * (c.whole - c.in_matrices)
    assert EIGHT.traffic == 2 * 7 * gradient // 8
    assert replace(EIGHT, precision="float32").traffic == 2 * 7 * 4 * c.whole // 8


def test_sharded_weights_come_twice_and_gradients_go_once():
    c = Parameters.of(MODEL)
    sharded = replace(EIGHT, parallel="shard", precision="float32")
    assert sharded.traffic == 7 * 4 * 3 * c.whole // 8
    parts = replace(sharded, accumulation=4)
    assert parts.traffic == 7 * 4 * (4 * 2 + 1) * c.whole // 8


@both_ways
def test_traffic_per_gpu_hardly_grows_with_the_gpus(parallel):
    few, many = (Cost(MODEL, Cluster(CHIP, gpus), 8, parallel).traffic for gpus in (8, 1024))
    assert few < many < 1.15 * few


@both_ways
def test_a_step_takes_between_all_hidden_and_nothing_hidden(parallel):
    cost = replace(EIGHT, parallel=parallel)
    assert cost.quickest_seconds < cost.seconds <= 2 * cost.quickest_seconds
    assert cost.seconds == cost.compute_seconds + cost.traffic_seconds


def test_between_machines_the_network_counts():
    near, far = (Cost(MODEL, Cluster(CHIP, 16, each), 8) for each in (16, 8))
    assert far.traffic == near.traffic
    assert far.traffic_seconds == pytest.approx(near.traffic_seconds * 50e9 / 12.5e9)


def test_the_largest_batch_fits_and_one_more_does_not():
    largest = ONE.largest_batch()
    assert largest > 1
    assert replace(ONE, batch=largest).fits
    assert not replace(ONE, batch=largest + 1).fits
    assert replace(ONE, batch=largest).memory.total <= USABLE * CHIP.memory


def test_what_never_fits_has_no_largest_batch():
    huge = ModelConfiguration(1000, layers=4, heads=4, embed=2**15, context=128)
    assert replace(ONE, model=huge).largest_batch() == 0
    assert replace(ONE, model=huge).in_parts().accumulation == 8


def test_a_batch_is_cut_in_the_fewest_equal_parts_that_fit():
    large = replace(ONE, batch=4 * ONE.largest_batch() + 6).in_parts()
    assert large.fits
    assert large.batch % large.accumulation == 0
    assert not any(
        replace(large, accumulation=parts).fits
        for parts in range(1, large.accumulation)
        if large.batch % parts == 0
    )
    assert ONE.in_parts() == ONE


def test_days_and_gpu_hours_are_the_same_time():
    tokens = 10**9
    seconds = tokens / EIGHT.tokens_per_second
    assert EIGHT.days(tokens) == pytest.approx(seconds / 86_400)
    assert EIGHT.gpu_hours(tokens) == pytest.approx(8 * seconds / 3600)


@pytest.mark.parametrize("vocabulary", [65, 256, 257, 65_536, 65_537])
def test_data_takes_the_bytes_of_its_ids(vocabulary):
    assert data_bytes(1000, vocabulary) == 1000 * id_type(vocabulary).itemsize


def test_a_save_holds_three_numbers_per_parameter():
    assert save_bytes(MODEL) == 12 * MODEL.parameter_count


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"batch": 0}, "accumulation"),
        ({"accumulation": 0}, "accumulation"),
        ({"accumulation": 9}, "accumulation=9, batch=8"),
        ({"utilisation": 0.0}, "utilisation must be a share"),
        ({"utilisation": 1.5}, "got 1.5"),
        ({"parallel": "both"}, "replicate or shard"),
        ({"precision": "float8"}, "'float8'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(wrong, message):
    with pytest.raises(ConfigurationError, match=message) as caught:
        replace(ONE, **wrong)
    assert "\n" not in str(caught.value)
