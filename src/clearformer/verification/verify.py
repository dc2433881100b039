"""The verification of an engine on a device: every row, one after another."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version

from clearformer.engines.choose import choose_engine
from clearformer.errors import ConfigurationError
from clearformer.verification.case import public_operations
from clearformer.verification.models import listened_row, logits_row
from clearformer.verification.operations import operation_row, step_by_step_row
from clearformer.verification.optimizer import adamw_row
from clearformer.verification.orthogonal import orthogonalise_row
from clearformer.verification.report import Row, Verification
from clearformer.verification.sides import Side
from clearformer.verification.tiny_model import RECIPES
from clearformer.verification.tolerance import NARROW
from clearformer.verification.training_step import training_step_row

TYPES = {"numpy": ("float64", "float32"), "torch": ("float64", "float32", *NARROW)}
"""Types of number of each engine."""

FOR_OPTIMIZERS = {"adamw": adamw_row, "orthogonalise": orthogonalise_row}
"""Operations without a gradient, whose rows are made otherwise."""

Job = Callable[[], Row]


def verify(
    engine: str = "torch", device: str = "cpu", progress: Callable[[float], None] | None = None
) -> Verification:
    """Holds an engine on a device against the NumPy engine in float64.

    Every operation, whole models and a training step, in every type of number that the device has:
    values and gradients. The NumPy engine itself, in float64, is held against finite differences.

    Args:
        engine: numpy or torch.
        device: cpu, cuda, cuda:1, mps.
        progress: hears after each row which share of the work is done.

    Raises:
        ConfigurationError: the engine or the device is not there, or cannot be used.
    """
    begun = time.monotonic()
    choose_engine(engine)
    sides, notes = _sides(engine, device)
    jobs = [job for jobs in zip(*map(_jobs, sides), strict=True) for job in jobs if job]
    rows = []
    with _one_thread():
        for number, job in enumerate(jobs, start=1):
            rows.append(job())
            if progress:
                progress(number / len(jobs))
    return Verification(
        engine=engine,
        device=device,
        versions={name: version(name) for name in dict.fromkeys(("numpy", engine))},
        rows=rows,
        notes=notes,
        seconds=time.monotonic() - begun,
    )


def _one_thread() -> AbstractContextManager[object]:
    """One thread for each operation, as in training: the cases are too short to be shared out.

    Waking a second thread for each costs many times more than it saves, above all when others work
    on the machine too.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limits


def _sides(engine: str, device: str) -> tuple[list[Side], list[str]]:
    """A side for each type of number, and a note for each that the device does not have."""
    sides, notes = [], []
    for dtype in TYPES[engine]:
        try:
            sides.append(Side(engine, device, dtype))
        except RuntimeError as error:  # such as cuda:7 where there are two
            raise ConfigurationError(f"PyTorch cannot use {device}: {error}") from error
        except TypeError:
            notes.append(f"{device} has no {dtype}; it was left out")
    return sides, notes


def _jobs(side: Side) -> Iterator[Job | None]:
    """What makes each row of a side; None for what there is not in its type of number.

    Moments and weights stay in float32 when products are narrow, so what moves them is for wide
    types only.
    The steps of attention one by one round every intermediate, and so do not agree with the fused
    operation in a narrow type.
    """
    wide = side.dtype not in NARROW
    for name in public_operations():
        if name not in FOR_OPTIMIZERS:
            yield partial(operation_row, name, side)
    for row_of in FOR_OPTIMIZERS.values():
        yield partial(row_of, side) if wide else None
    yield partial(step_by_step_row, side) if wide else None
    for row in (logits_row, listened_row, training_step_row):
        for recipe in RECIPES:
            done = wide or (row is training_step_row and side.dtype == "bfloat16")
            yield partial(row, recipe, side) if done else None
