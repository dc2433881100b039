"""Which engine does the arithmetic of a run, where and how: as wished, and as decided."""

import re
from dataclasses import dataclass
from typing import Any

from clearformer.errors import ConfigurationError

ENGINES = ("numpy", "torch")
NAMES = {"numpy": "NumPy", "torch": "PyTorch"}
"""Of the engines, for a person."""

PRECISIONS = ("float32", "bfloat16")
PARALLEL = ("replicate", "shard")

ONLY_OF_NUMPY = ("cpu", "float32", False, "replicate", 1)
"""Device, precision, compiled, parallel and ranks of the engine numpy."""

TRYING = "finding out whether PyTorch can compile here"
"""What takes half a minute the first time."""

DROPS, DROPS_ADVICE = "dropout is drawn anew at each step", "leave out --compile or --dropout"
"""Why a model that draws is not compiled."""

DEVICE = re.compile(r"cpu|mps|cuda(:(0|[1-9][0-9]{0,3}))?")
"""One of them, or one of several GPUs, such as cuda:1."""


@dataclass(frozen=True)
class Wish:
    """What somebody asks for; what is None is decided by what pays."""

    engine: str | None = None
    device: str | None = None
    precision: str | None = None
    compiled: bool | None = None
    parallel: str | None = None
    """Of several processes: replicate or shard."""
    workers: int = 1
    """Threads or processes that share a batch on processors."""
    ranks: int = 1
    """Processes that train together."""

    @property
    def on_processor(self) -> bool:
        """Whether that is sure; PyTorch takes the best device there is, unless one is named."""
        return self.engine in (None, "numpy") or self.device == "cpu"

    def __post_init__(self) -> None:
        _require_known(self.engine, self.device, self.precision, self.compiled, self.parallel)


@dataclass(frozen=True)
class Work:
    """How much there is to do, so that what takes time at the start can be weighed."""

    operations: float = 0.0
    """Multiplications and additions of the whole run; 0 if minutes decide."""
    minutes: float = 0.0
    rows: int = 1
    """Sequences in a batch."""
    parts: int = 1
    """Parts in which a batch is computed, one after the other."""
    draws: bool = False
    """Whether dropout is drawn at each step."""
    obstacle: str = ""
    """Why its steps cannot be compiled, where they cannot."""
    memory: int = 0
    """Bytes that a whole model with its gradients and averages takes, without activations."""

    def seconds(self, speed: float) -> float:
        """About how long it takes at so many operations per second."""
        return 60 * self.minutes + self.operations / speed

    def shapes(self, threads: int) -> int:
        """How many different numbers of rows a thread meets where so many share each part."""
        sizes = {size for part in _sizes(self.rows, self.parts) for size in _sizes(part, threads)}
        return len(sizes - {0})


@dataclass(frozen=True)
class Execution:
    """Decided; saved in run.json."""

    engine: str = "numpy"
    device: str = "cpu"
    precision: str = "float32"
    """Of products of matrices; everything else is float32."""
    compiled: bool = False
    workers: int = 1
    ranks: int = 1
    parallel: str = "replicate"
    """Of several ranks: each has the whole model (replicate), or a part of it (shard)."""

    def __post_init__(self) -> None:
        how = (self.engine, self.device, self.precision, self.compiled, self.parallel)
        _require_known(*how)
        if None in how:
            raise ConfigurationError("engine, device, precision, compiled or parallel is missing")
        for name, value in (("workers", self.workers), ("ranks", self.ranks)):
            if type(value) is not int or value < 1:
                raise ConfigurationError(
                    f"{name} must be a whole number of at least 1; got {value!r}"
                )
        if self.engine == "numpy" and (*how[1:], self.ranks) != ONLY_OF_NUMPY:
            raise ConfigurationError("the engine numpy computes on a processor, and in float32")

    @property
    def where(self) -> str:
        """In words: the engine, and on which device, by how many processes or processors."""
        numbers = ((self.ranks, "processes"), (self.workers, "processors"))
        shared = [f"{number} {name}" for number, name in numbers if number > 1]
        on_processor = self.device == "cpu"
        places = [] if on_processor else [self.device]
        places += shared[:1] or (["1 processor"] if on_processor else [])
        return f"{NAMES[self.engine]} on {', '.join(places)}"


def _require_known(
    engine: object, device: object, precision: object, compiled: object, parallel: object
) -> None:
    """Refuses what no machine could do."""
    for name, value, known in (
        ("engine", engine, ENGINES),
        ("precision", precision, PRECISIONS),
        ("parallel", parallel, PARALLEL),
    ):
        if value is not None and value not in known:
            raise _unknown(name, value, known)
    if device is not None:
        require_device(device)
    if compiled is not None and type(compiled) is not bool:
        raise _unknown("compiled", compiled, ("True", "False"))


def require_device(name: object) -> None:
    """Refuses what is the name of no device.

    Raises:
        ConfigurationError: with those that there can be.
    """
    if not (isinstance(name, str) and DEVICE.fullmatch(name)):
        raise _unknown("device", name, ("cpu", "cuda", "cuda:N", "mps"))


def cannot_compile(reason: str, advice: str) -> ConfigurationError:
    """What is said where compiling is wished and cannot be."""
    return ConfigurationError(f"the model cannot be compiled here: {reason}; {advice}")


def _unknown(name: str, value: Any, known: tuple[str, ...]) -> ConfigurationError:
    return ConfigurationError(f"{name} must be one of {', '.join(known)}; got {value!r}")


def _sizes(rows: int, parts: int) -> set[int]:
    """Of parts as equal as can be."""
    return {rows // parts, -(-rows // parts)}
