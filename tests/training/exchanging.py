"""Run by `torchrun`: prints, as JSON, how many numbers each way of training exchanges in a step."""

import json
import sys
from math import prod

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from clearformer.engines.torch.ranks import Ranks
from clearformer.engines.torch.replicated import Replicated
from clearformer.engines.torch.sharded import Sharded
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.next_token import next_token_loss

WAYS = {"replicate": Replicated, "shard": Sharded}

SENT = {
    "c10d::_allgather_base_": ("gathered", 0),
    "c10d::_reduce_scatter_base_": ("scattered", 1),
    "gloo:all_reduce": ("added up", 0),
}
"""For each event its meaning, and which of its arrays is whole."""


def exchanged(way: str, model: ModelConfiguration, parts: int, ranks: Ranks) -> dict[str, int]:
    """Numbers in whole arrays, by what was done with them, in one step of `parts` parts."""
    learner = WAYS[way](
        build_decoder(model, np.random.default_rng(0)), next_token_loss, ranks, device="cpu"
    )
    ids = np.random.default_rng(1).integers(model.vocabulary, size=(2, 1, model.context))

    def step() -> None:
        for part in range(parts):
            learner.loss_and_gradients(*ids, share=1 / parts, last=part == parts - 1)

    step()  # what is exchanged once, at the start, is over
    learner.gather()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiled:
        step()
    found = {"gathered": 0, "scattered": 0, "added up": 0}
    for event in profiled.events():
        if event.name in SENT:
            kind, whole = SENT[event.name]
            found[kind] += prod(event.input_shapes[whole])
    return found


def main() -> None:
    torch.set_num_threads(1)
    model = ModelConfiguration(**json.loads(sys.argv[1]))
    with Ranks("cpu") as ranks:
        told = {
            f"{way} {parts}": exchanged(way, model, parts, ranks)
            for way in WAYS
            for parts in (1, 3)
        }
    if ranks.rank == 0:
        sys.stdout.write(f"EXCHANGED {json.dumps(told)}\n")


if __name__ == "__main__":
    main()
