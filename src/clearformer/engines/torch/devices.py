"""Which devices PyTorch has here, and a model on one of them."""

from typing import Any

import torch

from clearformer.engines.execution import require_device
from clearformer.engines.ranks import place_here, processes_here
from clearformer.errors import ConfigurationError


def device_of(wish: str | None) -> str:
    """The device that is meant; the best one where none is named, and of several a rank's own.

    Raises:
        ConfigurationError: it is not there; with what is.
    """
    there = _there()
    device = next(name for name in ("cuda", "mps", "cpu") if there[name]) if wish is None else wish
    require_device(device)
    kind, _, number = device.partition(":")
    if int(number or 0) >= there[kind]:
        found = ", ".join(
            name if count == 1 else f"{name}:0 to {name}:{count - 1}"
            for name, count in there.items()
            if count
        )
        raise ConfigurationError(
            f"PyTorch {torch.__version__} finds no device {device} here; there is: {found}"
        )
    if device == "cuda" and processes_here() > 1:
        return f"cuda:{place_here()}"
    return device


def is_here(device: str) -> bool:
    """Whether there is such a device."""
    try:
        device_of(device)
    except ConfigurationError:
        return False
    return True


def moved(model: Any, device: str | None) -> Any:
    """A model in NumPy arrays as tensors on a device.

    Raises:
        ConfigurationError: there is no such device.
    """
    place = device_of(device)
    return model.with_parameters(lambda _, array: torch.tensor(array, device=place))


def memory_of(device: str | None) -> int | None:
    """Bytes that may be used on a device; None for a processor, which has the machine's.

    Raises:
        ConfigurationError: there is no such device.
    """
    place = device_of(device)
    if place.startswith("cuda"):
        return int(torch.cuda.get_device_properties(place).total_memory)
    return int(torch.mps.recommended_max_memory()) if place == "mps" else None


def _there() -> dict[str, int]:
    """How many devices of each kind there are."""
    return {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
