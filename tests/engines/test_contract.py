"""Every engine has exactly the operations of `ops`, with the same parameters and defaults."""

import inspect
from types import ModuleType

import pytest

from clearformer.engines import numpy as numpy_engine
from engines.cases import public_operations

ENGINES = [numpy_engine]

BESIDE_THE_OPERATIONS = ["decode"]
"""What an engine may offer to be quicker at something that the operations can do."""

every_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)


def test_there_are_operations():
    assert {"attention", "softmax", "adamw"} <= set(public_operations())


@every_engine
def test_an_engine_has_every_operation_and_no_other(engine: ModuleType):
    names = [name for name in engine.__all__ if inspect.isfunction(getattr(engine, name))]
    assert names == sorted([*public_operations(), *BESIDE_THE_OPERATIONS])


@every_engine
@pytest.mark.parametrize("name", public_operations())
def test_an_operation_takes_the_same_parameters_in_every_engine(engine: ModuleType, name: str):
    contract, engines_own = (
        [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
        for function in (public_operations()[name], getattr(engine, name))
    )
    assert engines_own == contract


@pytest.mark.parametrize("name", public_operations())
def test_an_operation_says_what_it_computes_and_with_which_axes(name: str):
    operation = public_operations()[name]
    assert operation.__doc__
    assert set(operation.__annotations__) == {*inspect.signature(operation).parameters, "return"}
