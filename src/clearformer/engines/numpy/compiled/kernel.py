"""How a kernel is compiled; importing this imports numba."""

from collections.abc import Callable
from typing import Any

from numba import njit

SETTINGS: dict[str, Any] = {
    "nogil": True,  # several threads may be in it at once
    "fastmath": {"reassoc", "contract", "arcp", "nsz", "afn"},  # sums in any order: vectorised
    "error_model": "numpy",  # a division by zero gives inf
}
"""Without `nnan` and `ninf`: what is not finite must come out so, for it is looked for."""


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles `function` when it is first called, and keeps the result on disk.

    numba keeps it beside the source, or else in the user's own cache folder, or where its variable
    NUMBA_CACHE_DIR says; where none can be written to, each process compiles anew. What is kept is
    thrown away when this one source file has changed: a kernel and its pieces stand in one file.
    """
    try:
        compiled: Callable[..., Any] = njit(cache=True, **SETTINGS)(function)
    except RuntimeError:  # no folder for the cache
        compiled = njit(**SETTINGS)(function)
    return compiled


def piece(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only kernels call: compiled into them."""
    compiled: Callable[..., Any] = njit(**SETTINGS)(function)
    return compiled


def piece_in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """A piece whose sums are taken as they are written: where the order is what makes it exact."""
    in_order = {**SETTINGS, "fastmath": {"contract", "nsz"}}
    compiled: Callable[..., Any] = njit(**in_order)(function)
    return compiled
