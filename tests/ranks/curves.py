"""A few steps of a tiny model, by one process or by several; what comes out must be the same."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.engines.ranks import Alone
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.text.batches import Batches
from clearformer.training.evaluation import evaluate
from clearformer.training.judged import Judged
from clearformer.training.loop import Loop
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import optimizer_for
from clearformer.training.options import TrainingOptions

STEPS = 4


@dataclass(frozen=True)
class Case:
    """What is trained, and how.

    Its sizes divide by no number of ranks: neither the vocabulary, nor the width, nor the batch.
    """

    dtype: str = "float64"
    precision: str = "float32"
    batch: int = 7
    accumulation: int = 1
    optimizer: str = "adamw"
    evaluate_after: int = 0
    """The step after which the model is evaluated; 0 for never."""
    model: dict[str, Any] = field(default_factory=dict)


CASES = {
    "float64": Case(),
    "float32": Case(dtype="float32"),
    "bfloat16": Case(dtype="float32", precision="bfloat16"),
    "accumulation": Case(accumulation=3),
    "ranks without a row": Case(batch=1),
    "parts without a row": Case(batch=3, accumulation=3),
    "evaluated on the way": Case(evaluate_after=2),
    "classic": Case(model={"recipe": "classic", "tied": True}),
    "muon": Case(optimizer="muon"),
    "muon in float32": Case(optimizer="muon", dtype="float32"),
    "muon in bfloat16": Case(optimizer="muon", dtype="float32", precision="bfloat16"),
}


def curve(case: Case, parallel: str = "replicate", ranks: Alone | None = None) -> dict[str, Any]:
    """Losses, norms of the gradient and evaluations of a few steps; and the weights they end in."""
    ranks = ranks or Alone()
    configuration = ModelConfiguration(
        13, **{"layers": 2, "heads": 3, "embed": 6, "context": 5, **case.model}
    )
    model = build_decoder(configuration, np.random.default_rng(0), np.dtype(case.dtype))
    execution = Execution(
        "torch", "cpu", case.precision, ranks=ranks.ranks, parallel=parallel, workers=1
    )
    learner = learner_of(execution, model, next_token_loss, ranks)
    ids = np.random.default_rng(1).integers(13, size=333)
    options = TrainingOptions(
        steps=STEPS,
        batch=case.batch,
        accumulation=case.accumulation,
        optimizer=case.optimizer,
        learning_rate=0.03,
    )
    batches = Batches(
        ids, 5, case.batch, np.random.default_rng(2), rank=ranks.rank, ranks=ranks.ranks
    )
    loop = Loop(learner, batches, optimizer_for(learner, options), options, ranks)
    found: dict[str, Any] = {"losses": [], "norms": [], "evaluations": []}
    with learner.running():
        for step in range(1, STEPS + 1):
            loss, _, norm = loop.one_step()
            found["losses"].append(loss)
            found["norms"].append(norm)
            if step == case.evaluate_after:
                text = Judged(ids[:73], 72, {}, 0.0)
                told = evaluate(learner.model, text, context=5, rows=4, spread=learner.spread)
                found["evaluations"].append(told.loss)
    weights = learner.named(learner.parameters)
    found["weights"] = [float(np.square(weights[path]).sum()) for path in sorted(weights)]
    found["held"] = sum(len(np.ravel(part)) for part in _parts(learner.parameters))
    found["steps"] = loop.step
    return found


def _parts(parameters: Any) -> list[Any]:
    return list(parameters.values()) if isinstance(parameters, dict) else [parameters]
