"""Names for what an answer returns: one array, several, a dict of them, a list of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def by_name(value: Any, returns: Sequence[str]) -> dict[str, Any]:
    """What was returned, flat: {"output": …}, {"out": …, "cache.K": …}, {"grads.0": …}.

    A single name takes the value itself, or the first of a tuple; several names take the members
    of a tuple or list in order, or of a dict by name.

    Raises:
        ValueError: there is less in it than `returns` names.
    """
    if len(returns) == 1:
        inside = value[0] if isinstance(value, tuple) and value else value
        return _flat(returns[0], inside)
    if isinstance(value, Mapping):
        members = [value[each] for each in returns if each in value]
    else:
        members = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(members) < len(returns):
        raise ValueError(f"expected {len(returns)} results, got {len(members)}")
    found: dict[str, Any] = {}
    for each, member in zip(returns, members, strict=False):
        found |= _flat(each, member)
    return found


def arrays(value: Any, returns: Sequence[str]) -> dict[str, np.ndarray]:
    """The same as arrays, of what the right way and its changes return."""
    return {name: np.asarray(each) for name, each in by_name(value, returns).items()}


def holds_arrays(value: Any) -> bool:
    """Whether it is a list or tuple of several arrays; one of numbers stands for an array."""
    return isinstance(value, (list, tuple)) and any(hasattr(each, "shape") for each in value)


def _flat(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {f"{name}.{key}": each for key, each in value.items()}
    if holds_arrays(value):
        return {f"{name}.{index}": each for index, each in enumerate(value)}
    return {name: value}
