"""A model, a text and a loop so small that a thousand steps take a second."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.engines.numpy import Learner
from clearformer.models.build import build_decoder
from clearformer.models.kinds import KINDS
from clearformer.text.batches import Batches
from clearformer.text.corpus import Corpus
from clearformer.training.loop import Loop
from clearformer.training.memory import require_memory
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import optimizer_for
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared, model_for, prepare

TEXT = "the cat sat on the mat; the dog ran to the cat. " * 12

DIALS = {"layers": 2, "heads": 2, "embed": 8, "context": 8}


def corpus(text: str = TEXT) -> Corpus:
    return Corpus(text, ("tiny.txt",), ())


def prepared(
    text: str = TEXT,
    *,
    kind: str = "characters",
    vocabulary: int | None = None,
    options: TrainingOptions | None = None,
    **dials: Any,
) -> Prepared:
    """A tiny model, fitted to `text`."""
    chosen = options or TrainingOptions(batch=4)
    return prepare(
        corpus(text),
        kind=kind,
        vocabulary=vocabulary,
        model=model_for(KINDS["decoder"], None, DIALS | dials),
        options=chosen,
        fits=lambda model: require_memory(model, chosen.batch, 1, chosen.accumulation),
    )


def learner(
    ready: Prepared | None = None, *, workers: int = 1, seed: int = 0, dtype: Any = np.float32
) -> Any:
    """A learner of a tiny model, the same for the same seed."""
    model = build_decoder((ready or prepared()).model, np.random.default_rng(seed), dtype)
    return Learner(model, next_token_loss, workers)


def loop(
    ready: Prepared | None = None, *, workers: int = 1, dtype: Any = np.float32, **options: Any
) -> Loop:
    """A loop over a tiny text; keywords are fields of `TrainingOptions`."""
    ready = ready or prepared()
    chosen = TrainingOptions(**{"steps": 40, "batch": 4, **options})
    pupil = learner(ready, workers=workers, seed=chosen.seed, dtype=dtype)
    rng = np.random.default_rng([chosen.seed, 1])
    batches = Batches(ready.train, ready.model.context, chosen.batch, rng)
    return Loop(pupil, batches, optimizer_for(pupil, chosen), chosen)


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the names and bytes of arrays."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        found.update(name.encode() + arrays[name].tobytes())
    return found.hexdigest()


def state_of(training: Loop) -> str:
    """SHA-256 of all that the next step depends on: weights, optimizer, position, generators."""
    weights = training.learner.named(training.learner.parameters)
    told = (training.step, training.tokens_seen, training.batches.state())
    rest = np.frombuffer(repr(told).encode(), np.uint8)
    return digest({**weights, **training.optimizer.state(), "rest": rest})
