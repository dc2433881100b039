"""Causal attention of the NumPy engine beside PyTorch's fused kernel.

Both sides start from the same float32 numbers, one sequence of several heads; forwards alone, or
forwards and backwards, all three inputs receiving a gradient.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.benchmarking.interleave import Side, Work, blas_limited, blas_threads, measure
from clearformer.benchmarking.report import Report
from clearformer.engines.dispatch import engine_of
from clearformer.engines.kernels import TRAINING
from clearformer.engines.tape import Tape, TapeTensor

PYTORCH = "PyTorch SDPA"

TURN = 0.3
"""About how many seconds of work make a turn."""

SPEED = 1e11
"""Operations in a second, about; tells how often a turn repeats the work."""

MOST = 100
"""Repeats in a turn: what is short is not bound by its operations."""

WAYS = {False: "forwards", True: "forwards and backwards"}


@dataclass(frozen=True)
class Setting:
    """What every side is told."""

    length: int
    backwards: bool
    heads: int = 8
    width: int = 64
    threads: int = 2

    def arrays(self) -> list[np.ndarray]:
        """Query, key, value, and the gradient of the result."""
        rng, shape = np.random.default_rng(0), (1, self.heads, self.length, self.width)
        return [rng.standard_normal(shape, np.float32) for _ in range(4)]

    @property
    def repeats(self) -> int:
        """How often a turn does the work."""
        products = 7 if self.backwards else 2
        operations = products * self.heads * self.width * self.length**2  # half is masked
        return min(MOST, max(1, round(TURN * SPEED / operations)))


def ours(setting: Setting) -> Work:
    """As in training, on as many threads as a product of matrices may use."""
    *inputs, grad = setting.arrays()
    with blas_limited(setting.threads):
        yield blas_threads() + ", compiled" * has_kernels(grad)
        while True:
            if setting.backwards:
                gradients(*inputs, grad)
            else:
                forwards(*inputs)
            yield ""


def forwards(*inputs: np.ndarray) -> tuple[Tape, list[TapeTensor], Any]:
    """The tape, the leaves on it, and the result, which is recorded."""
    tape = Tape(compiled=has_kernels(*inputs))
    leaves = [tape.watch(x) for x in inputs]
    return tape, leaves, ops.attention(*leaves, causal=True)


def has_kernels(*arrays: np.ndarray) -> bool:
    """Whether they are compiled in a training, which takes long."""
    compiled: bool = engine_of(*arrays).is_compiled(TRAINING)
    return compiled


def gradients(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of query, key and value; the gradient of the result comes last."""
    *inputs, grad = arrays
    tape, leaves, mixed = forwards(*inputs)
    tape.backward(mixed, grad)
    return tuple(map(tape.gradient, leaves))


def pytorch(setting: Setting) -> Work:
    """The peer."""
    import torch

    torch.set_num_threads(setting.threads)
    *inputs, grad = map(torch.from_numpy, setting.arrays())
    for x in inputs:
        x.requires_grad_(setting.backwards)
    yield f"{torch.get_num_threads()} threads"
    while True:
        peer(inputs, grad if setting.backwards else None)
        yield ""


def peer(inputs: Sequence[Any], grad: Any = None) -> Any:
    """PyTorch's attention; leaves gradients in its inputs where `grad` is given."""
    from torch.nn.functional import scaled_dot_product_attention

    query, key, value = inputs
    mixed = scaled_dot_product_attention(query, key, value, is_causal=True)
    if grad is not None:
        for x in inputs:
            x.grad = None
        mixed.backward(grad)
    return mixed


def sides() -> dict[str, Callable[..., Work]]:
    """Whoever is there, clearformer first."""
    return {"clearformer": ours} | ({PYTORCH: pytorch} if find_spec("torch") else {})


def run(
    setting: Setting,
    turns: int,
    makers: Mapping[str, Callable[..., Work]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Report:
    """Measures one length in one way, on the sides that there are unless others are given."""
    report = Report("attention", asdict(setting), "milliseconds")
    ready = {name: Side(make, setting=setting) for name, make in (makers or sides()).items()}
    report.about = {name: side.about for name, side in ready.items()}
    taken = measure(ready, turns, setting.repeats, progress)
    report.take({name: [1e3 * seconds for seconds in taken[name]] for name in taken})
    return report
