"""Every engine has exactly the operations of `ops`, with the same parameters and defaults."""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from clearformer.engines.choose import choose_engine
from clearformer.verification.case import public_operations
from engines.runners import needs_torch

WAYS_IN_AND_OUT = ["empty", "from_array", "to_array"]
"""What every engine offers beside the operations: between its tensors and NumPy's arrays."""

every_engine = pytest.mark.parametrize(
    "name_of_engine", ["numpy", pytest.param("torch", marks=needs_torch)]
)


def parameters(function: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Names, kinds and defaults."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default) for p in found]


def functions(engine: ModuleType) -> dict[str, Callable[..., Any]]:
    """What an engine offers, but for classes."""
    members = {name: getattr(engine, name) for name in engine.__all__}
    return {name: member for name, member in members.items() if inspect.isfunction(member)}


def test_there_are_operations():
    assert {"attention", "softmax", "adamw"} <= set(public_operations())


@every_engine
def test_an_engine_has_every_operation(name_of_engine: str):
    offered = functions(choose_engine(name_of_engine))
    assert offered.keys() >= {*public_operations(), *WAYS_IN_AND_OUT}


@pytest.mark.parametrize(
    ("name_of_engine", "beside"),
    [
        ("numpy", {"decoder", "height_of", "is_compiled", "plain_seconds"}),
        pytest.param(
            "torch",
            {"device_of", "height_of", "is_here", "memory_of", "moved", "obstacle", "settle"},
            marks=needs_torch,
        ),
    ],
)
def test_what_an_engine_has_of_its_own_is_no_operation_that_another_lacks(
    name_of_engine: str, beside: set[str]
):
    """A quicker way to do what operations do, and questions to the machine."""
    offered = functions(choose_engine(name_of_engine))
    assert offered.keys() - {*public_operations(), *WAYS_IN_AND_OUT} == beside


@every_engine
@pytest.mark.parametrize("name", public_operations())
def test_an_operation_takes_the_same_parameters_in_every_engine(name_of_engine: str, name: str):
    engines_own = getattr(choose_engine(name_of_engine), name)
    assert parameters(engines_own) == parameters(public_operations()[name])


@needs_torch
@pytest.mark.parametrize("name", WAYS_IN_AND_OUT)
def test_the_ways_in_and_out_are_the_same_in_every_engine(name: str):
    ours, theirs = (getattr(choose_engine(engine), name) for engine in ("numpy", "torch"))
    assert parameters(ours) == parameters(theirs)


@pytest.mark.parametrize("name", public_operations())
def test_an_operation_says_what_it_computes_and_with_which_axes(name: str):
    operation = public_operations()[name]
    assert operation.__doc__
    assert set(operation.__annotations__) == {*inspect.signature(operation).parameters, "return"}
