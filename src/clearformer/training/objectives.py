"""Which objective trains which kind of model."""

from collections.abc import Callable, Mapping
from typing import Any

from clearformer.models.kind import Configuration
from clearformer.training.carried import CarriedNextToken
from clearformer.training.masked_token import MaskedToken
from clearformer.training.objective import Objective
from clearformer.training.pair_objective import PairObjective

OBJECTIVES: Mapping[str, Callable[[Any], Objective[Any]]] = {
    "decoder": Objective,
    "encoder": MaskedToken,
    "encoder-decoder": PairObjective,
    "gru": CarriedNextToken,
    "lstm": CarriedNextToken,
    "rnn": CarriedNextToken,
    "seq2seq": PairObjective,
}
"""By name of the kind."""


def objective_of(configuration: Configuration) -> Objective[Any]:
    """A fresh objective for a model."""
    return OBJECTIVES[configuration.kind](configuration)
