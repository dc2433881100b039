"""Whether a model fits where it is to be trained, in exact integers, before it is allocated."""

from collections.abc import Callable

from clearformer.engines.choose import memory_of
from clearformer.engines.execution import PARALLEL, PRECISIONS, Wish
from clearformer.engines.ranks import Alone, processes_on_machine
from clearformer.models.activations import WIDE
from clearformer.models.kind import Configuration
from clearformer.runs.workers import workers_for
from clearformer.training.gpu_memory import gpu_memory
from clearformer.training.memory import (
    SMALLER,
    machine_bytes,
    refuse_too_large,
    require_memory,
)
from clearformer.training.options import TrainingOptions

Fits = Callable[[Configuration], None]
"""Raises ConfigurationError for a model that needs more memory than there is."""


def fitting(asked: Wish, options: TrainingOptions, ranks: Alone, *, way_out: str = SMALLER) -> Fits:
    """The check for what was asked: by the engine, the device, and how many share the work.

    `way_out` is what a person does where it does not fit.
    """
    if (asked.engine or "numpy") == "numpy":
        return lambda model: require_memory(
            model,
            options.batch,
            workers_for(options, model),
            options.accumulation,
            way_out=way_out,
        )

    def on_pytorch(model: Configuration) -> None:
        refuse_too_large(
            model,
            pytorch_bytes(model, asked, options, ranks.ranks),
            _bytes_there(asked.device),
            f"batch={options.batch}, accumulation={options.accumulation}, processes={ranks.ranks}",
            way_out=way_out,
        )

    return on_pytorch


def pytorch_bytes(model: Configuration, asked: Wish, options: TrainingOptions, ranks: int) -> int:
    """Memory of one process at the height of a step; the least of the ways that are left open."""
    rows = -(-options.batch // (ranks * options.accumulation))
    on_gpu = memory_of(asked.device) is not None
    alone = ranks == 1
    workers = workers_for(options, model, "torch")
    more = 0 if on_gpu or not alone else WIDE * model.parameter_count * (workers - 1)
    ways = (asked.parallel,) if asked.parallel else ("replicate",) if alone else PARALLEL
    return more + min(
        gpu_memory(
            model,
            rows,
            precision,
            gpus=ranks,
            parallel=way,  # type: ignore[arg-type]  # checked when it was asked for
            accumulates=options.accumulation > 1,
            on_gpu=on_gpu,
        ).total
        for way in ways
        for precision in ((asked.precision,) if asked.precision else PRECISIONS)
    )


def _bytes_there(device: str | None) -> int | None:
    """What one process may use: of a GPU all, of a machine its share."""
    found = memory_of(device)
    if found is not None:
        return found
    machine = machine_bytes()
    return None if machine is None else machine // processes_on_machine()
