"""Parts as modules of PyTorch: DDP and FSDP work on modules, and replace their parameters."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from torch.nn import Module, ModuleDict, ModuleList, Parameter


class Held(Module):  # type: ignore[misc]  # PyTorch's types are not read
    """Holds the parameters of a part, and calls it with whatever they are at that moment."""

    def __init__(self, part: Any):
        super().__init__()
        for path, leaf in part.parameters().items():
            self.register_parameter(_name(path), _as_parameter(leaf))
        # its form without its numbers: FSDP lets whole parameters go, and so must we
        self._part = part.with_parameters(lambda _, leaf: leaf.new_empty((0,) * leaf.ndim))

    def part(self) -> Any:
        """The part, with the parameters of now."""
        return self._part.with_parameters(lambda path, _: getattr(self, _name(path)))

    def forward(self, *arguments: Any, **options: Any) -> Any:
        """Calls the part."""
        return self.part()(*arguments, **options)


class HeldModel(Held):
    """A model whose repeated parts, such as a decoder's blocks, are modules of their own."""

    def __init__(self, model: Any):
        self._repeated_paths = list(_repeated(model))
        super().__init__(replace(model, **dict.fromkeys(self._repeated_paths, ())))
        self.repeated = ModuleDict(
            {name: ModuleList(map(Held, getattr(model, name))) for name in self._repeated_paths}
        )

    def named_leaves(self) -> Mapping[str, tuple[Module, str]]:
        """For each path of the model the module that holds it, and the name it has there."""
        found = {path: (self, _name(path)) for path in self._part.parameters()}
        for field, modules in self.repeated.items():
            for number, module in enumerate(modules):
                for path in module._part.parameters():
                    found[f"{field}.{number}.{path}"] = (module, _name(path))
        return found

    def forward(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """function(model, …), with the model that calls the modules."""
        modules = {name: tuple(members) for name, members in self.repeated.items()}
        return function(replace(self.part(), **modules), *arguments, **options)


def _repeated(model: Any) -> Iterator[str]:
    """The fields that hold several parts, one after another."""
    for field in fields(model):
        value = getattr(model, field.name)
        if isinstance(value, tuple) and value and is_dataclass(value[0]):
            yield field.name


def _name(path: str) -> str:
    return path.replace(".", "/")  # PyTorch keeps the dot for itself


def _as_parameter(leaf: Any) -> Parameter:
    return leaf if isinstance(leaf, Parameter) else Parameter(leaf)
