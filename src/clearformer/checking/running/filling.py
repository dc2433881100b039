"""Puts the weights of a probe into the parameters of a module, by name and shape."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.checking.module_form import Given, Held, ModuleForm
from clearformer.checking.record import Failure
from clearformer.checking.running.failing import failure


class DoesNotFitError(Exception):
    """The module does not hold what the exercise has; says so in a failure."""

    def __init__(self, failed: Failure):
        super().__init__(failed.message)
        self.failure = failed


def fill(module: Any, form: ModuleForm, given: Given) -> Any:
    """The module, its parameters filled from `given`; what is a bias and not held becomes zero.

    Raises:
        DoesNotFitError: a parameter is of unknown use or of another shape.
    """
    import torch

    values = {name: _value(name, held, given) for name, held in form.held.items()}
    parameters = dict(module.named_parameters())
    blocks = _by_name(parameters, form)
    blocks.update(_by_shape(parameters, blocks, values))
    with torch.no_grad():
        for name, parameter in parameters.items():
            if name in blocks:
                owner = module.get_submodule(name.rpartition(".")[0])
                linear = isinstance(owner, torch.nn.Linear)
                content = blocks[name](values, tuple(parameter.shape), linear)
            else:
                content = np.zeros(parameter.shape) if _is_bias(name) else None
            if content is None:
                raise DoesNotFitError(_unknown(module, name, parameter, values))
            parameter.copy_(torch.from_numpy(np.array(content, np.float32)))
    return module


def _value(name: str, held: Held, given: Given) -> np.ndarray:
    return np.asarray(given[name] if held.value is None else held.value(given))


class _Block:
    """What one parameter holds: arguments side by side, or one of several shares of columns."""

    def __init__(self, arguments: tuple[str, ...], share: int = 0, shares: int = 1):
        self.arguments = arguments
        self.share = share
        self.shares = shares

    def __call__(
        self, values: Mapping[str, np.ndarray], shape: tuple[int, ...], linear: bool
    ) -> np.ndarray | None:
        """The content in that shape, transposed in a Linear; None if it does not fit."""
        parts = [values[name] for name in self.arguments]
        whole = np.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
        if self.shares > 1:
            if whole.shape[-1] % self.shares:
                return None
            whole = np.split(whole, self.shares, axis=-1)[self.share]
        return _turned(whole, shape, linear)


def _turned(value: np.ndarray, shape: tuple[int, ...], linear: bool = False) -> np.ndarray | None:
    """The value or its transpose, whichever has that shape; an `nn.Linear` holds the transpose."""
    if value.shape == shape and not (linear and value.ndim == 2):
        return value
    return value.T if value.ndim == 2 and value.T.shape == shape else None


def _by_name(parameters: Mapping[str, Any], form: ModuleForm) -> dict[str, _Block]:
    """For each parameter with a name that is known, what it holds."""
    arguments: dict[str, tuple[str, ...]] = {
        _plain(other): (name,) for name, held in form.held.items() for other in (name, *held.names)
    }
    arguments |= {_plain(name): tuple(held) for name, held in form.fused.items()}
    claims: dict[tuple[str, ...], list[str]] = {}
    for name in parameters:
        found = _claimed(name, arguments)
        if found:
            claims.setdefault(found, []).append(name)
    return {
        name: _Block(held, place, len(names))
        for held, names in claims.items()
        for place, name in enumerate(names)
    }


def _claimed(name: str, arguments: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """What "heads.0.query.weight" holds: the first of its parts, from the last, that is known."""
    parts = name.split(".")
    if _plain(parts[-1]) in arguments:
        return arguments[_plain(parts[-1])]
    if _is_bias(name):
        return None
    for part in reversed(parts[:-1]):
        if _plain(part) in arguments:
            return arguments[_plain(part)]
    return None


def _plain(name: str) -> str:
    """One name for "W_Q", "w_q" and "WQ_weight"."""
    return re.sub(r"_?weight$", "", name.lower()).replace("_", "") or "weight"


def _by_shape(
    parameters: Mapping[str, Any], known: Mapping[str, _Block], values: Mapping[str, np.ndarray]
) -> dict[str, _Block]:
    """Parameters that are the only ones of a shape which only one argument has."""
    taken = {argument for block in known.values() for argument in block.arguments}
    left = [name for name in values if name not in taken]
    unnamed = {name: tuple(each.shape) for name, each in parameters.items() if name not in known}
    unnamed = {name: shape for name, shape in unnamed.items() if not _is_bias(name)}
    found = {}
    for name, shape in unnamed.items():
        fitting = [each for each in left if _turned(values[each], shape) is not None]
        rivals = [
            other
            for other, theirs in unnamed.items()
            if len(fitting) == 1 and _turned(values[fitting[0]], theirs) is not None
        ]
        if len(fitting) == 1 and rivals == [name]:
            found[name] = _Block((fitting[0],))
    return found


def _is_bias(name: str) -> bool:
    last = name.rsplit(".", maxsplit=1)[-1].lower()
    return "bias" in last or last in ("b", "beta", "b_q", "b_k", "b_v", "b_o")


def _unknown(module: Any, name: str, parameter: Any, values: Mapping[str, np.ndarray]) -> Failure:
    expected = ", ".join(f"{each} {value.shape}" for each, value in values.items())
    return failure(
        "signature",
        "cannot tell what the parameter {name} {shape} of {owner} holds; expected {expected}",
        "{owner} のパラメータ {name} {shape} が何を表すか分かりません。必要なもの: {expected}",
        owner=type(module).__name__,
        name=name,
        shape=str(tuple(parameter.shape)),
        expected=expected,
    )
