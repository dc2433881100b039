"""A batch in many parts: what they add up to keeps its digits, in several processes too."""

import numpy as np
import pytest

from clearformer.engines.ranks import Alone
from clearformer.training.objective import next_token_loss
from models.decoders import VARIANTS, random_decoder
from models.learners import batch

torch = pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")

MODERN = VARIANTS["the modern recipe"]

PARTS = 256
"""In bfloat16, 256 + 1 is 256: added up there, the last of so many equal parts would be lost."""


@pytest.fixture
def replicated():
    """The learner of one rank, with nobody to exchange gradients with."""
    from torch import distributed

    from clearformer.engines.torch.replicated import Replicated

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield Replicated(
        random_decoder(MODERN, np.float32), next_token_loss, Alone(), precision="bfloat16"
    )
    distributed.destroy_process_group()


def norm_of(learner, parts):
    """Of the gradient of a row, computed in so many equal parts."""
    for number in range(parts):
        learner.loss_and_gradients(*batch(MODERN, 1), share=1 / parts, last=number == parts - 1)
    return learner.gather()


def test_many_narrow_parts_weigh_as_one(replicated):
    whole = norm_of(replicated, 1)
    assert norm_of(replicated, PARTS) == pytest.approx(whole, rel=1e-4)
    assert norm_of(replicated, 1) == pytest.approx(whole, rel=1e-6), "something was left behind"
