"""How a kernel is compiled; importing this imports numba."""

from collections.abc import Callable
from typing import Any

from numba import njit, typeof
from numba.core import event

from clearformer.engines.kernels import tell

SETTINGS: dict[str, Any] = {
    "nogil": True,  # several threads may be in it at once
    "fastmath": {"reassoc", "contract", "arcp", "nsz", "afn"},  # sums in any order: vectorised
    "error_model": "numpy",  # a division by zero gives inf
}
"""Without `nnan` and `ninf`: what is not finite must come out so, for it is looked for."""


Function = Callable[..., Any]


def kernel(purpose: str) -> Callable[[Function], Function]:
    """Compiles a function when it is first called, and keeps the result on disk.

    numba keeps it beside the source, or else in the user's own cache folder, or where its variable
    NUMBA_CACHE_DIR says; where none can be written to, each process compiles anew. What is kept is
    thrown away when this one source file has changed: so a kernel and its pieces stand in one file,
    or what belongs to another file is named in it (`attention_kernel.PIECES`).

    Args:
        purpose: such as "LSTMs", for a person who waits for it.
    """

    def decorate(function: Function) -> Function:
        try:
            compiled: Function = njit(cache=True, **SETTINGS)(function)
            _SENTENCES[function] = KEPT.format(purpose)
        except RuntimeError:  # no folder for the cache
            compiled = njit(**SETTINGS)(function)
            _SENTENCES[function] = NOT_KEPT.format(purpose)
        return compiled

    return decorate


def make_ready(made: Any, *given: Any) -> None:
    """Compiles a kernel for such arguments, or loads what was kept, before it is called."""
    made.compile(tuple(map(typeof, given)))


KEPT = "compiling a kernel for {}, which takes some seconds, once per installation"
NOT_KEPT = (
    "compiling a kernel for {}, which takes some seconds each time; to have it kept, name a folder "
    "that can be written to in the environment variable NUMBA_CACHE_DIR"
)

_SENTENCES: dict[Function, str] = {}
"""Of each kernel, what is told when it is compiled."""


class _Compiler(event.Listener):  # type: ignore[misc]
    """Tells of kernels that numba compiles: not of those that it loads, nor of pieces."""

    def on_start(self, begun: Any) -> None:
        sentence = _SENTENCES.get(begun.data["dispatcher"].py_func)
        if sentence:
            tell(sentence)

    def on_end(self, ended: Any) -> None:
        """Nothing: what comes next is seen by itself."""


event.register("numba:compile", _Compiler())


def piece(function: Function) -> Function:
    """A function that only kernels call: compiled into them."""
    compiled: Function = njit(**SETTINGS)(function)
    return compiled


def piece_in_order(function: Function) -> Function:
    """A piece whose sums are taken as they are written: where the order is what makes it exact."""
    in_order = {**SETTINGS, "fastmath": {"contract", "nsz"}}
    compiled: Function = njit(**in_order)(function)
    return compiled
