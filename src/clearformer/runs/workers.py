"""How many workers share a batch."""

from clearformer.engines.shared import copies_work
from clearformer.engines.threads import suitable_workers
from clearformer.models.kind import Configuration
from clearformer.training.options import TrainingOptions

WORTH_A_COPY = 20_000_000
"""Multiplications and additions of a step in one layer that make up for one more worker, where the
workers are processes: two break even at 30 million, of any kind of model (see the log)."""


def workers_for(options: TrainingOptions, model: Configuration, engine: str | None = None) -> int:
    """As many as were asked for; else as many as pay on this engine, NumPy unless told."""
    return options.workers or workers_that_pay(options, model, engine)


def workers_that_pay(
    options: TrainingOptions, model: Configuration, engine: str | None = None
) -> int:
    """As many as there are processors, as far as each has enough to do.

    Threads meet at the interpreter's lock at every operation. In a small step they wait for it
    longer than they compute: of the size tiny two threads make a step in 1.5 times the time of one.
    Processes only tell each other when to begin, and that they are done.
    """
    rows = -(-options.batch // options.accumulation)
    in_a_layer = model.operations(rows) // model.layers
    processes = engine in (None, "numpy") and copies_work()
    worth = WORTH_A_COPY if processes else model.worth_a_thread
    return max(1, min(suitable_workers(rows), in_a_layer // worth))
