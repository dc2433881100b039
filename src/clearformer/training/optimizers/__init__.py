"""How parameters move: AdamW, and Muon for the matrices between hidden vectors."""

from typing import Any

from clearformer.training.optimizers.adamw import AdamW, AdamWSettings
from clearformer.training.optimizers.muon import Muon, MuonSettings
from clearformer.training.optimizers.optimizer import Optimizer
from clearformer.training.options import TrainingOptions

__all__ = ["AdamW", "AdamWSettings", "Muon", "MuonSettings", "Optimizer", "optimizer_for"]


def optimizer_for(learner: Any, options: TrainingOptions) -> Optimizer:
    """The one that the options name, with their weight decay."""
    rest = AdamWSettings(decay=options.weight_decay)
    if options.optimizer == "muon":
        return Muon(learner, MuonSettings(decay=options.weight_decay), rest)
    return AdamW(learner, rest)
