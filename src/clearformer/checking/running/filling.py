"""Puts the weights of a probe into the parameters of a module, by name and shape."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.checking.module_form import Given, Held, ModuleForm
from clearformer.checking.record import Failure
from clearformer.checking.running.failing import failure


class DoesNotFitError(Exception):
    """The module does not hold what the exercise has; says so in a failure."""

    def __init__(self, failed: Failure):
        super().__init__(failed.message.en)
        self.failure = failed


def fill(module: Any, form: ModuleForm, given: Given) -> Any:
    """The module, its parameters filled from `given`; a bias that nothing is left for becomes zero.

    Raises:
        DoesNotFitError: a parameter is of unknown use or of another shape.
    """
    import torch

    values = {name: _value(name, held, given) for name, held in form.held.items()}
    slots = [_Slot.of(module, name) for name, _ in module.named_parameters()]
    blocks = _by_name(slots, form)
    for find in (_by_shape, _by_place):
        left = [each for each in slots if each.name not in blocks]
        blocks.update(find(left, blocks, values))
    taken = {argument for block in blocks.values() for argument in block.arguments}
    unplaced = {value.shape for name, value in values.items() if name not in taken}
    with torch.no_grad():
        for slot in slots:
            if slot.name in blocks:
                content = slot.turned(blocks[slot.name].content(values))
            else:
                spare = _is_bias(slot.name) and slot.shape not in unplaced
                content = np.zeros(slot.shape) if spare else None
            if content is None:
                raise DoesNotFitError(_unknown(module, slot, values))
            parameter = module.get_parameter(slot.name)
            parameter.copy_(torch.from_numpy(np.array(content, np.float32)))
    return module


def _value(name: str, held: Held, given: Given) -> np.ndarray:
    return np.asarray(given[name] if held.value is None else held.value(given))


@dataclass(frozen=True)
class _Slot:
    """A parameter that waits for its content."""

    name: str
    """With the path to it: "heads.0.query.weight"."""
    shape: tuple[int, ...]
    linear: bool
    """Whether it is held by an `nn.Linear`, which transposes."""

    @classmethod
    def of(cls, module: Any, name: str) -> "_Slot":
        import torch

        owner = module.get_submodule(name.rpartition(".")[0])
        shape = tuple(module.get_parameter(name).shape)
        return cls(name, shape, isinstance(owner, torch.nn.Linear))

    def turned(self, value: np.ndarray | None) -> np.ndarray | None:
        """The value as it is held here: as it is, transposed, or cut into heads; or None."""
        if value is None:
            return None
        if value.shape == self.shape and not (self.linear and value.ndim == 2):
            return value
        if value.ndim == 2 and value.T.shape == self.shape:
            return value.T
        heads, rows = self.shape[0], value.shape[0]
        if value.ndim == 2 and self.shape == (heads, rows, value.shape[1] // heads):
            return value.reshape(rows, heads, -1).swapaxes(0, 1)
        return None


@dataclass(frozen=True)
class _Block:
    """What one parameter holds: arguments side by side, or one of several shares of columns."""

    arguments: tuple[str, ...]
    share: int = 0
    shares: int = 1

    def content(self, values: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """The content; None if it cannot be shared out evenly."""
        parts = [values[name] for name in self.arguments]
        whole = np.concatenate(parts, axis=-1) if len(parts) > 1 else parts[0]
        if whole.shape[-1] % self.shares:
            return None
        return np.split(whole, self.shares, axis=-1)[self.share] if self.shares > 1 else whole


def _by_name(slots: Sequence[_Slot], form: ModuleForm) -> dict[str, _Block]:
    """For each parameter with a name that is known, what it holds."""
    arguments: dict[str, tuple[str, ...]] = {
        _plain(other): (name,) for name, held in form.held.items() for other in (name, *held.names)
    }
    arguments |= {_plain(name): tuple(held) for name, held in form.fused.items()}
    claims: dict[tuple[str, ...], list[str]] = {}
    for slot in slots:
        found = _claimed(slot.name, arguments)
        if found:
            claims.setdefault(found, []).append(slot.name)
    return {
        name: _Block(held, place, len(names))
        for held, names in claims.items()
        for place, name in enumerate(names)
    }


def _claimed(name: str, arguments: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """What "heads.0.query.weight" holds: the first of its parts, from the last, that is known."""
    parts = name.split(".")
    for last in (".".join(parts[-2:]), parts[-1]):
        if _plain(last) in arguments:
            return arguments[_plain(last)]
    if _is_bias(name):
        return None
    for part in reversed(parts[:-1]):
        if _plain(part) in arguments:
            return arguments[_plain(part)]
    return None


def _plain(name: str) -> str:
    """One name for "W_Q", "w_q" and "WQ_weight"."""
    return re.sub(r"[._]?weight$", "", name.lower()).replace("_", "") or "weight"


def _by_shape(
    slots: Sequence[_Slot], known: Mapping[str, _Block], values: Mapping[str, np.ndarray]
) -> dict[str, _Block]:
    """Parameters that are the only ones of a shape which only one argument has."""
    taken = {argument for block in known.values() for argument in block.arguments}
    left = [name for name in values if name not in taken]
    fits = {
        (slot.name, argument)
        for slot in slots
        for argument in left
        if slot.turned(values[argument]) is not None
    }
    return {
        name: _Block((argument,))
        for name, argument in fits
        if sum(name == other for other, _ in fits) == 1
        and sum(argument == other for _, other in fits) == 1
    }


def _by_place(
    slots: Sequence[_Slot], known: Mapping[str, _Block], values: Mapping[str, np.ndarray]
) -> dict[str, _Block]:
    """Layers of one list hold the arguments in their order, where there are equally many.

    As `linears` of the Annotated Transformer does: for query, key, value and output.
    """
    taken = {argument for block in known.values() for argument in block.arguments}
    found: dict[str, _Block] = {}
    for axes in (1, 2):
        arguments = [each for each in values if each not in taken and values[each].ndim == axes]
        listed = [each for each in slots if _is_bias(each.name) == (axes == 1)]
        pairs = list(zip(listed, arguments, strict=False))
        if (
            len(listed) == len(arguments)
            and _in_one_list(listed)
            and all(slot.turned(values[argument]) is not None for slot, argument in pairs)
        ):
            found.update({slot.name: _Block((argument,)) for slot, argument in pairs})
    return found


def _in_one_list(slots: Sequence[_Slot]) -> bool:
    names = {re.sub(r"\d+", "#", each.name) for each in slots}
    return len(names) == 1 and "#" in names.pop()


def _is_bias(name: str) -> bool:
    last = name.rsplit(".", maxsplit=1)[-1].lower()
    return "bias" in last or last in ("b", "beta", "b_q", "b_k", "b_v", "b_o")


def _unknown(module: Any, slot: _Slot, values: Mapping[str, np.ndarray]) -> Failure:
    expected = ", ".join(f"{each} {value.shape}" for each, value in values.items())
    return failure(
        "signature",
        "cannot tell what the parameter {name} {shape} of {owner} holds; expected {expected}",
        "{owner} のパラメータ {name} {shape} が何を表すか分かりません。必要なもの: {expected}",
        owner=type(module).__name__,
        name=slot.name,
        shape=str(slot.shape),
        expected=expected,
    )
