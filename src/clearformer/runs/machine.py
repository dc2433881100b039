"""Where and how a run is computed: what was asked for, what was recorded, what is here."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from hashlib import sha256

from clearformer.engines.choose import as_before, settle
from clearformer.engines.execution import Execution, Wish, Work
from clearformer.engines.ranks import Alone, place_here
from clearformer.errors import ClearformerError, ElsewhereError, RunError
from clearformer.models.kind import Configuration
from clearformer.runs.workers import workers_for
from clearformer.training.loop import STEPS
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions

BYTES_PER_PARAMETER = 16
"""A weight, its gradient and two averages, in float32."""

Decided = tuple[Execution, tuple[str, ...]]
"""How a run is computed, and notes that say it."""


@contextmanager
def alike(kind: type[ClearformerError] = ClearformerError) -> Iterator[None]:
    """Before they meet, processes meet the same faults: the first on each machine tells of one.

    Raises:
        ElsewhereError: in the others, where the fault is of this kind.
    """
    try:
        yield
    except kind as fault:
        if place_here():
            raise ElsewhereError(str(fault)) from None
        raise


def require_the_same(ranks: Alone, thing: object, named: str) -> None:
    """Refuses to train on different things, plain JSON, on different ranks.

    Raises:
        RunError: naming a rank, on all of them.
    """
    digest = sha256(json.dumps(thing, sort_keys=True).encode()).hexdigest()
    mine = float(int(digest[:12], 16))  # 48 bits, which a float holds exactly
    other = ranks.largest(ranks.rank if ranks.same(mine) != mine else 0)
    if other:
        raise RunError(f"rank {other} has {named} than rank 0; all ranks need the same")


def settled(
    asked: Wish,
    options: TrainingOptions,
    model: Configuration,
    ranks: Alone,
    waiting: Callable[[str], None],
) -> Decided:
    """Decides what was left open, and says it; `waiting` hears of what takes seconds.

    Raises:
        ConfigurationError: the machine cannot do what was asked.
    """
    wish = replace(asked, workers=workers_for(options, model, asked.engine), ranks=ranks.ranks)
    return _by_first(ranks, lambda: settle(wish, work_of(options, model), waiting))


def settled_again(
    asked: Wish,
    before: Execution,
    options: TrainingOptions,
    model: Configuration,
    ranks: Alone,
    waiting: Callable[[str], None],
) -> Decided:
    """The same for a run that goes on: as before, but for what was asked and what is not here.

    Raises:
        ConfigurationError: the machine cannot do what was asked.
    """
    # workers share a batch only on a processor, and where one process has all of it
    shared = before.ranks == 1 and before.device == "cpu"
    workers = (
        before.workers if shared else workers_for(options, model, asked.engine or before.engine)
    )
    wish = replace(asked, workers=workers, ranks=ranks.ranks)

    def decide() -> Decided:
        kept, notes = as_before(before, wish, waiting)
        execution, decided = settle(kept, work_of(options, model), waiting)
        return execution, (*notes, *decided)

    return _by_first(ranks, decide)


def _by_first(ranks: Alone, decide: Callable[[], Decided]) -> Decided:
    """What rank 0 decides."""

    def plain() -> list[object]:
        execution, notes = decide()
        return [asdict(execution), list(notes)]

    execution, notes = ranks.first(plain)
    return Execution(**execution), tuple(notes)  # type: ignore[arg-type]


def work_of(options: TrainingOptions, model: Configuration) -> Work:
    """How much a whole run computes, and in what portions."""
    steps = options.steps or (0 if options.minutes else STEPS)
    return Work(
        operations=float(steps * model.operations(options.batch)),
        minutes=options.minutes or 0.0,
        rows=options.batch,
        parts=options.accumulation,
        draws=model.drops,
        obstacle=objective_of(model).obstacle,
        memory=BYTES_PER_PARAMETER * model.parameter_count,
    )
