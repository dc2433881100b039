"""How many threads share a batch."""

from clearformer.engines.threads import suitable_workers
from clearformer.models.kind import Configuration
from clearformer.training.options import TrainingOptions


def workers_for(options: TrainingOptions, model: Configuration) -> int:
    """As many as were asked for; else as many as pay."""
    return options.workers or workers_that_pay(options, model)


def workers_that_pay(options: TrainingOptions, model: Configuration) -> int:
    """As many as there are processors, as far as each has enough to do.

    Threads meet at the interpreter's lock at every operation. In a small step they wait for it
    longer than they compute: of the size tiny two threads make a step in 1.5 times the time of one.
    """
    rows = -(-options.batch // options.accumulation)
    in_a_layer = model.operations(rows) // model.layers
    return max(1, min(suitable_workers(rows), in_a_layer // model.worth_a_thread))
