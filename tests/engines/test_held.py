"""A part as a module: the module's parameters are the part's, and nothing else holds them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="modules are PyTorch's (extra torch)")

from clearformer.engines.torch.devices import moved  # noqa: E402
from clearformer.engines.torch.held import Held, HeldModel  # noqa: E402
from clearformer.models.build import build_decoder  # noqa: E402
from clearformer.models.configuration import ModelConfiguration  # noqa: E402

IDS = np.array([[3, 1, 4, 1, 5]])


@pytest.fixture
def decoder():
    configuration = ModelConfiguration(9, layers=2, heads=2, embed=8, context=8, recipe="classic")
    return moved(build_decoder(configuration, np.random.default_rng(0)), "cpu")


def test_a_module_computes_what_the_part_computes(decoder):
    wanted = decoder(IDS)
    assert torch.equal(Held(decoder)(IDS), wanted)


def test_a_module_reads_its_parameters_when_it_is_called(decoder):
    held, doubled = Held(decoder), decoder.with_parameters(lambda _, leaf: 2 * leaf)
    with torch.no_grad():
        for parameter in held.parameters():
            parameter.mul_(2)
    assert torch.equal(held(IDS), doubled(IDS))


def test_nothing_but_its_parameters_is_held(decoder):
    """Else a model that is sharded would stay whole on every rank."""
    held = HeldModel(decoder)
    parts = [held._part, *(module._part for module in held.repeated["blocks"])]
    assert sum(leaf.numel() for part in parts for leaf in part.parameters().values()) == 0
    assert set(held.named_leaves()) == decoder.parameters().keys()
