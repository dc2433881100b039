"""A loss compiled by `torch.compile`.

The model is run once with PyTorch's tracer listening; what it recorded, operations of PyTorch and
nothing else, is what gets compiled. So the compiler never sees Python code of ours or NumPy, and
whatever the model decides on the way (which recipe, whether somebody listens) is decided by then.
"""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from clearformer.engines.learner import Loss
from clearformer.errors import ConfigurationError

NO_COMPILER = "there is no C++ compiler, such as g++"
NO_TRITON = "Triton, which makes code for GPUs, is not installed"

LONGEST_REASON = 160
"""Characters of what a compiler says; the first line of its errors tells most."""


class Traced:
    """The same loss, compiled anew for each shape that it meets.

    Not for dropout: what is drawn while tracing would be drawn for ever.
    """

    def __init__(self, loss: Loss):
        self._loss = loss
        self._made: dict[Any, Any] = {}

    def __call__(self, model: Any, *arguments: Any) -> torch.Tensor:
        """loss(model, *arrays, rng)."""
        *arrays, _ = arguments
        leaves = model.parameters()
        device = next(iter(leaves.values())).device
        tensors = [_crossed(x).to(device) for x in arrays]
        key = tuple(tensor.shape for tensor in tensors)
        if key not in self._made:
            self._made[key] = self._compiled(model, leaves, tensors)
        result: torch.Tensor = self._made[key](list(leaves.values()), *tensors)
        return result

    def _compiled(self, model: Any, leaves: dict[str, Any], tensors: list[torch.Tensor]) -> Any:
        def function(values: list[torch.Tensor], *inputs: torch.Tensor) -> Any:
            named = dict(zip(leaves, values, strict=True))
            return self._loss(model.with_parameters(lambda name, _: named[name]), *inputs, None)

        graph = make_fx(function)(list(leaves.values()), *tensors)
        return torch.compile(graph, dynamic=False)


def obstacle(device: str) -> str | None:
    """What keeps PyTorch from compiling here, in a few words; None if nothing does."""
    if device.startswith("cuda"):
        if find_spec("triton") is None:
            return NO_TRITON
    elif shutil.which(os.environ.get("CXX") or _usual_compiler()) is None:
        return NO_COMPILER
    return _tried(device)


@cache
def _tried(device: str) -> str | None:
    """The same, found out by compiling a sum.

    The seconds that this takes are not lost: a model is compiled the sooner for it.
    """
    try:
        with _without_warnings():
            torch.compile(lambda x: x + 1)(torch.ones(2, device=device))
    except Exception as fault:
        return reason_of(fault)
    return None


@contextmanager
def compiling() -> Iterator[None]:
    """While a model is compiled.

    Raises:
        ConfigurationError: it cannot be; what PyTorch says, in one line.
    """
    try:
        with _without_warnings():
            yield
    except torch._dynamo.exc.TorchDynamoException as fault:
        raise ConfigurationError(
            f"PyTorch cannot compile the model here: {reason_of(fault)}; take --no-compile"
        ) from fault


def reason_of(fault: BaseException) -> str:
    """The line of a compiler's many that tells most."""
    inner = getattr(fault, "inner_exception", fault)
    known = {"InvalidCxxCompiler": NO_COMPILER, "TritonMissing": NO_TRITON}
    if type(inner).__name__ in known:
        return known[type(inner).__name__]
    lines = [line.strip() for line in str(inner).splitlines() if line.strip()]
    telling = [line for line in lines if "error:" in line] or lines or [type(inner).__name__]
    return telling[0][:LONGEST_REASON]


@contextmanager
def _without_warnings() -> Iterator[None]:
    """What the compiler warns of is itself, and nothing that a person here could change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _crossed(array: np.ndarray) -> torch.Tensor:
    """An array as a tensor; ids as 64 bits, since PyTorch looks no row up by fewer than 32."""
    if array.dtype.kind in "iu":
        array = array.astype(np.int64, copy=False)
    return torch.from_numpy(np.ascontiguousarray(array))


def _usual_compiler() -> str:
    return {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")
