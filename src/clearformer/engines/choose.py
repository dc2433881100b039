"""The one place that chooses an engine by name."""

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from clearformer.engines.execution import ENGINES, TRYING, Execution, Wish, Work
from clearformer.engines.learner import Loss
from clearformer.engines.ranks import Alone, processes_here
from clearformer.errors import ConfigurationError

INSTALL = 'pip install ".[torch]" in the clone'


LOADING = "loading PyTorch"
"""What takes seconds, the first time in a process."""


def _silent(doing: str) -> None:
    """Nobody waits."""


def takes_loading(name: str | None) -> bool:
    """Whether choosing that engine takes seconds, because it is not loaded yet."""
    return name == "torch" and "torch" not in sys.modules


def choose_engine(name: str) -> ModuleType:
    """The engine called `name`.

    Raises:
        ConfigurationError: if there is none of that name, or it is not installed.
    """
    if name not in ENGINES:
        raise ConfigurationError(f"engine must be one of {', '.join(ENGINES)}; got {name!r}")
    if name == "numpy":
        from clearformer.engines import numpy

        return numpy
    if find_spec("torch") is None:
        raise ConfigurationError(
            "the engine torch needs PyTorch, which is not installed here; "
            f"{INSTALL}, or take --engine numpy"
        )
    try:
        from clearformer.engines import torch
    except (ImportError, OSError) as fault:  # half installed, or older than what is asked for
        raise ConfigurationError(
            f"PyTorch cannot be loaded ({fault}); {INSTALL}, or take --engine numpy"
        ) from None
    except SystemError as fault:  # what Python makes of it where there is almost no memory
        raise ConfigurationError(
            f"PyTorch cannot be loaded ({fault}), perhaps for lack of memory; take --engine numpy"
        ) from None
    return torch


def version_of(engine: str) -> str:
    """Of the library after which an engine is called."""
    choose_engine(engine)
    return str(import_module(engine).__version__)


def require_possible(wish: Wish) -> None:
    """Refuses at once what this machine cannot do, before anything takes time.

    Raises:
        ConfigurationError: the engine or the device is not there, or the engine cannot do it.
    """
    engine = wish.engine or "numpy"
    module = choose_engine(engine)
    if engine != "numpy":
        module.device_of(wish.device)
        return
    for name, value, only in (
        ("device", wish.device, "cpu"),
        ("precision", wish.precision, "float32"),
        ("parallel", wish.parallel, "replicate"),
    ):
        if value not in (None, only):
            raise ConfigurationError(
                f"the engine numpy has {name} {only} only; got {value}; take --engine torch"
            )
    if wish.compiled:
        raise ConfigurationError(
            "the engine numpy compiles nothing; take --engine torch, or leave out --compile"
        )


def settle(
    wish: Wish, work: Work, waiting: Callable[[str], None] = _silent
) -> tuple[Execution, tuple[str, ...]]:
    """Decides what a wish leaves open; the notes say what was decided and why.

    `waiting` hears of what takes seconds on the way.

    Raises:
        ConfigurationError: the engine or the device is not there, or cannot do it.
    """
    require_possible(wish)
    engine = wish.engine or "numpy"
    if engine == "numpy":
        return Execution(workers=wish.workers), ()
    found: tuple[Execution, tuple[str, ...]] = choose_engine(engine).settle(wish, work, waiting)
    return found


def where_before(before: Execution, wish: Wish) -> Wish:
    """A wish to go on, with engine and device as before where it leaves them open.

    The device stays open where that of before is not here, and on another engine.

    Raises:
        ConfigurationError: the engine is not there.
    """
    wish = replace(wish, engine=wish.engine or before.engine)
    if wish.engine == "numpy" or wish.engine != before.engine or wish.device is not None:
        return wish
    # of several processes each has a GPU of its own: which one it was says nothing then
    device = _kind(before.device) if processes_here() > 1 else before.device
    return replace(wish, device=device) if choose_engine(wish.engine).is_here(device) else wish


def as_before(
    before: Execution, wish: Wish, waiting: Callable[[str], None] = _silent
) -> tuple[Wish, tuple[str, ...]]:
    """A wish to go on, with what it leaves open as before; the notes say what is not here.

    On another engine or kind of device than before, what pays there is decided anew; so is whether
    to compile where the model may be shared out, which is never compiled.

    Raises:
        ConfigurationError: the engine is not there.
    """
    wish = where_before(before, wish)
    if wish.engine == "numpy" or wish.engine != before.engine:
        return wish, ()
    if wish.device is None:
        return wish, (f"the run was on {before.device}, which is not here",)
    if _kind(wish.device) != _kind(before.device):
        return wish, ()
    parallel = wish.parallel or (before.parallel if wish.ranks > 1 < before.ranks else None)
    wish = replace(wish, parallel=parallel, precision=wish.precision or before.precision)
    if wish.compiled is not None or not before.compiled:
        return replace(wish, compiled=bool(wish.compiled)), ()
    if wish.ranks > 1 and parallel != "replicate":
        return wish, ()
    waiting(TRYING)
    obstacle = choose_engine(before.engine).obstacle(wish.device)
    notes = [f"the run was compiled, which is not possible here: {obstacle}"] if obstacle else []
    return replace(wish, compiled=obstacle is None), tuple(notes)


def _kind(device: str) -> str:
    """Such as cuda for cuda:1."""
    return device.partition(":")[0]


def learner_of(execution: Execution, model: Any, loss: Loss, ranks: Alone | None = None) -> Any:
    """The learner that trains `model`, which is in NumPy arrays, as was decided."""
    module = choose_engine(execution.engine)
    if execution.engine == "numpy":
        return module.Learner(model, loss, execution.workers)
    device = module.device_of(execution.device)
    options: dict[str, Any] = {"device": device, "precision": execution.precision}
    if execution.ranks > 1 and execution.parallel == "shard":
        from clearformer.engines.torch.sharded import Sharded

        return Sharded(model, loss, ranks or Alone(), **options)
    options["compiled"] = execution.compiled
    if execution.ranks > 1:
        from clearformer.engines.torch.replicated import Replicated

        return Replicated(model, loss, ranks or Alone(), **options)
    return module.Learner(model, loss, execution.workers, **options)


def join_ranks(engine: str, device: str | None) -> Alone:
    """This process among those that `torchrun` has started; alone without it.

    What they want to do there must be possible: see `require_possible`.

    Raises:
        ConfigurationError: several were started for an engine that trains in one, or there are not
            as many devices.
    """
    if processes_here() == 1:
        return Alone()
    if engine == "numpy":
        raise ConfigurationError(
            f"{processes_here()} processes were started together, and the engine numpy trains in "
            "one; take --engine torch"
        )
    from clearformer.engines.torch.ranks import join

    return join(device)


def memory_of(device: str | None) -> int | None:
    """Bytes that PyTorch may use on a device; None for a processor, which has the machine's.

    Raises:
        ConfigurationError: the device is not there.
    """
    module = choose_engine("torch")
    found: int | None = module.memory_of(device)
    return found


def moved(model: Any, engine: str, device: str | None = None) -> Any:
    """A model in NumPy arrays, in the tensors of an engine on a device.

    Raises:
        ConfigurationError: the engine or the device is not there.
    """
    require_possible(Wish(engine, device))
    return model if engine == "numpy" else choose_engine(engine).moved(model, device)
