"""Part: a frozen dataclass of tensors and smaller parts; the field path names each parameter."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

P = TypeVar("P", bound="Part")


class Part:
    """Base of every layer and model. Subclasses are frozen dataclasses.

    A field that holds a tensor is a parameter; a field that holds a part, or a tuple of parts, is
    walked into; anything else is a setting. `blocks.0.attention.query.weight` is a path.
    """

    between_hidden: ClassVar[bool] = False
    """Whether each matrix of it, and of the parts in it, takes hidden vectors to hidden vectors: no
    row or column of it belongs to a token."""

    def __init_subclass__(cls) -> None:
        # else `dataclass` would write one that prints every number
        cls.__repr__ = Part.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parameter_count():,} parameters)"

    @property
    def in_one_piece(self) -> bool:
        """Whether threads, not processes, share out products of a batch better than its rows."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Every parameter under its path, in the order of the fields."""
        return dict(_walk(self, ""))

    def with_parameters(self: P, replacement: Callable[[str, Any], Any]) -> P:
        """A copy in which each parameter is what `replacement(path, parameter)` returns."""
        result: P = _rebuild(self, "", replacement)
        return result

    def hidden_matrices(self) -> tuple[str, ...]:
        """The paths of the matrices between hidden vectors, in the order of the fields."""
        return tuple(_walk_hidden(self, ""))

    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(int(np.prod(p.shape)) for p in self.parameters().values())


def _children(part: Part, prefix: str) -> Iterator[tuple[str, str, Any]]:
    for field in fields(part):  # type: ignore[arg-type]  # every Part is a dataclass
        yield field.name, f"{prefix}{field.name}", getattr(part, field.name)


def _walk(part: Part, prefix: str) -> Iterator[tuple[str, Any]]:
    for _, path, value in _children(part, prefix):
        if isinstance(value, Part):
            yield from _walk(value, f"{path}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Part):
            for number, member in enumerate(value):
                yield from _walk(member, f"{path}.{number}.")
        elif hasattr(value, "dtype"):  # a tensor of any engine; quicker than asking the protocol
            yield path, value


def _walk_hidden(part: Part, prefix: str) -> Iterator[str]:
    if part.between_hidden:
        yield from (f"{prefix}{path}" for path, x in _walk(part, "") if len(x.shape) == 2)
        return
    for _, path, value in _children(part, prefix):
        if isinstance(value, Part):
            yield from _walk_hidden(value, f"{path}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Part):
            for number, member in enumerate(value):
                yield from _walk_hidden(member, f"{path}.{number}.")


def _rebuild(part: Part, prefix: str, replacement: Callable[[str, Any], Any]) -> Any:
    changed: dict[str, Any] = {}
    for name, path, value in _children(part, prefix):
        if isinstance(value, Part):
            changed[name] = _rebuild(value, f"{path}.", replacement)
        elif isinstance(value, tuple) and value and isinstance(value[0], Part):
            changed[name] = tuple(
                _rebuild(member, f"{path}.{number}.", replacement)
                for number, member in enumerate(value)
            )
        elif hasattr(value, "dtype"):  # a tensor of any engine; quicker than asking the protocol
            changed[name] = replacement(path, value)
    return replace(part, **changed)  # type: ignore[type-var]  # every Part is a dataclass
