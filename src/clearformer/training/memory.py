"""The memory a run will need, in exact integers, before anything is allocated."""

import os
from contextlib import suppress
from pathlib import Path

from clearformer.errors import ConfigurationError
from clearformer.models.activations import WIDE
from clearformer.models.kind import Configuration

ID = 3 * 8  # bytes: a place in the text, the id there, and the id as an index

SMALLER = "choose smaller sizes, such as --size small"
"""What a person does whose model does not fit."""


def training_bytes(configuration: Configuration, batch: int, workers: int, parts: int = 1) -> int:
    """Weights, gradients, optimizer and the activations of one step, in bytes (an estimate).

    Per weight: itself, two averages, a scratch value, and one gradient per worker. What is kept of
    a batch in `parts` is that of one part. The ids of the whole batch are drawn at once.
    """
    weights = WIDE * configuration.parameter_count * (4 + workers)
    return (
        weights
        + WIDE * configuration.kept_numbers(-(-batch // parts))
        + ID * batch * (configuration.window + 1)
    )


def machine_bytes() -> int | None:
    """Memory that this process may use, in bytes; None where the system does not tell."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
    limit = Path("/sys/fs/cgroup/memory.max")  # of a container
    with suppress(OSError, ValueError):  # "max" where there is no limit
        found.append(int(limit.read_text("ascii")))
    return min(found)


def require_memory(
    configuration: Configuration,
    batch: int,
    workers: int,
    parts: int = 1,
    *,
    way_out: str = SMALLER,
) -> None:
    """Refuses a run that cannot fit.

    Raises:
        ConfigurationError: with the memory it would need and what the machine has.
    """
    needed = training_bytes(configuration, batch, workers, parts)
    shared = f"batch={batch}, workers={workers}"
    refuse_too_large(configuration, needed, machine_bytes(), shared, way_out=way_out)


def refuse_too_large(
    configuration: Configuration,
    needed: int,
    there: int | None,
    shared: str,
    *,
    way_out: str = SMALLER,
) -> None:
    """Refuses what needs more bytes than there are; `shared` tells how a batch is worked through.

    Raises:
        ConfigurationError: with both numbers and the sizes, and the way out.
    """
    if there is not None and needed > there:
        sizes = ", ".join(
            f"{name}={value}"
            for name, value in configuration.to_json().items()
            if type(value) is int
        )
        raise ConfigurationError(
            f"this model would need about {in_words(needed)} of memory to train and this machine "
            f"has {in_words(there)} ({sizes}, {shared}); {way_out}"
        )


def in_words(number: int) -> str:
    """Bytes as a person reads them, in powers of 1024."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    unit = min(max((number.bit_length() - 1) // 10, 0), len(units) - 1)
    return f"{number / 1024**unit:,.1f} {units[unit]}" if unit else f"{number} bytes"
