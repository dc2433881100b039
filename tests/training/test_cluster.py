"""The machines of a plan: complete, plausible, and refused where they cannot be."""

import pytest

from clearformer.errors import ConfigurationError
from clearformer.training.cluster import ACCELERATORS, Accelerator, Cluster, this_machine


@pytest.mark.parametrize("name", ACCELERATORS)
def test_published_figures_are_plausible(name):
    """A slip of a power of ten, or a peak that counts sparse products, would show."""
    chip = ACCELERATORS[name]
    assert chip.name == name
    assert 50e12 < chip.bfloat16 < 1_000e12
    assert 1.5 < chip.bfloat16 / chip.float32 < 20
    assert 20e9 < chip.memory < 200e9
    assert 200e9 < chip.bandwidth < 10e12
    assert chip.link < chip.bandwidth


def test_a_ring_is_as_quick_as_its_narrowest_stretch():
    chip = ACCELERATORS["H100"]
    assert Cluster(chip, 8).slowest_link == chip.link
    assert Cluster(chip, 16).slowest_link == 12.5e9
    assert Cluster(chip, 16, network=1e15).slowest_link == chip.link


@pytest.mark.parametrize("gpus, machines", [(1, 1), (8, 1), (9, 2), (64, 8)])
def test_gpus_fill_machines(gpus, machines):
    assert Cluster(ACCELERATORS["L4"], gpus).machines == machines


@pytest.mark.parametrize(
    "wrong", [{"gpus": 0}, {"gpus_per_machine": 0}, {"network": 0.0}, {"network": float("nan")}]
)
def test_what_no_cluster_has_is_refused(wrong):
    with pytest.raises(ConfigurationError, match="above 0"):
        Cluster(ACCELERATORS["L4"], **wrong)


def test_what_has_no_link_is_planned_alone():
    lonely = Accelerator("lonely", 1e12, 1e12, 10**9, 1e9, 0.0)
    assert Cluster(lonely).gpus == 1
    with pytest.raises(ConfigurationError, match="lonely has no link to others; got gpus=2"):
        Cluster(lonely, 2)


def test_this_machine_computes_and_moves_something():
    here = this_machine()
    assert 1e8 < here.float32 == here.bfloat16 < 1e15
    assert 1e8 < here.bandwidth < 1e13
    assert here.link == 0
