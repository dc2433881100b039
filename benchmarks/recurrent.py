"""Time of a recurrent layer, forward and backward: clearformer against torch.nn.

    python benchmarks/recurrent.py
    python benchmarks/recurrent.py --cell gru --hidden 128 --batch 12 --threads 1 --json

Both sides start from the same numbers, in float32, and take turns; a test holds them equal.
clearformer works as it does in training: a learner shares a batch out over as many threads as
torch.nn is given; the NumPy engine takes compiled kernels where numba is installed, or never with
CLEARFORMER_COMPILED=never. Both compute the sum of all outputs, each with a weight of its own, and
the gradients of a gain of the input, the weights and the biases. PyTorch is not installed by this
script; without it there is no ratio.

A turn is long: Linux puts a thread that was asleep on the processor of the one that woke it, and on
one of its own some ten milliseconds later. In training that happens once.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import sqrt
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from clearformer import ops
from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.engines.kernels import TRAINING
from clearformer.engines.numpy.compiled.choice import is_compiled
from clearformer.models.part import Part
from clearformer.models.recurrent.build import LAYERS
from clearformer.models.recurrent.layers import RecurrentLayer
from clearformer.tensor import Tensor
from interleave import Side, Work, blas_threads, measure
from report import Report

GATES = {"rnn": 1, "lstm": 4, "gru": 3}


@dataclass(frozen=True)
class Layer(Part):
    """A recurrent layer, from states of zero."""

    gain: Tensor
    """Of the input; one. It makes the engines compute the gradient of the input."""
    cell: RecurrentLayer

    @property
    def in_one_piece(self) -> bool:
        """As in training."""
        return self.cell.in_one_piece

    def __call__(self, x: Any) -> Any:
        """The outputs (batch, seq, hidden)."""
        return self.cell(ops.multiply(x, self.gain))[0]


@dataclass(frozen=True)
class Setting:
    """What every side is told."""

    cell: str
    hidden: int
    batch: int
    seq: int
    threads: int

    def layer(self) -> Layer:
        """The same numbers for every side, the size that torch.nn begins with."""
        rng, columns = np.random.default_rng(0), GATES[self.cell] * self.hidden

        def drawn(*shape: int) -> np.ndarray:
            return rng.uniform(-1, 1, shape).astype(np.float32) / np.float32(sqrt(self.hidden))

        square = self.hidden, columns
        weights = drawn(*square), drawn(*square), drawn(columns)
        new = (drawn(self.hidden),) if self.cell == "gru" else ()
        return Layer(np.ones(self.hidden, np.float32), LAYERS[self.cell](*weights, *new))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """What comes in, and what each output receives as its gradient."""
        rng, shape = np.random.default_rng(1), (self.batch, self.seq, self.hidden)
        return rng.normal(size=shape).astype(np.float32), rng.normal(size=shape).astype(np.float32)


def weighted_sum(layer: Layer, x: Any, weights: np.ndarray, rng: object = None) -> Any:
    """The sum of weights times outputs: each output receives its weight as gradient."""
    outputs = ops.reshape(layer(x), (1, weights.size))
    return ops.reshape(ops.matmul(outputs, weights.reshape(-1, 1)), ())


def ours(setting: Setting, engine: str) -> Work:
    """The layer of clearformer, with a learner as in training."""
    how = Execution(engine, "cpu", "float32", False, setting.threads)
    learner = learner_of(how, setting.layer(), weighted_sum)
    arrays = setting.arrays()
    with threadpool_limits(setting.threads, user_api="blas"), learner.running():
        kernels = ", compiled" if engine == "numpy" and is_compiled(TRAINING) else ""
        yield f"{setting.threads} threads, {blas_threads()}{kernels}"
        while True:
            learner.loss_and_gradients(*arrays)
            learner.gather()
            yield ""


def peer_of(setting: Setting) -> Any:
    """The layer of torch.nn with the same weights."""
    import torch
    from torch import nn

    cell: Any = setting.layer().cell
    kind = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[setting.cell]
    peer = kind(setting.hidden, setting.hidden, batch_first=True)
    second = np.zeros_like(cell.bias)
    if setting.cell == "gru":
        second[2 * setting.hidden :] = cell.bias_new
    weights = cell.weight_input.T, cell.weight_hidden.T, cell.bias, second
    with torch.no_grad():
        for parameter, weight in zip(peer.parameters(), weights, strict=True):
            parameter.copy_(torch.tensor(weight))
    return peer


def pytorch(setting: Setting) -> Work:
    """The peer."""
    import torch

    torch.set_num_threads(setting.threads)
    peer, gain = peer_of(setting), torch.ones(setting.hidden, requires_grad=True)
    x, weights = map(torch.from_numpy, setting.arrays())
    yield f"{torch.get_num_threads()} threads"
    while True:
        peer.zero_grad(set_to_none=True)
        gain.grad = None
        loss = (peer(x * gain)[0] * weights).sum()
        loss.backward()
        loss.item()
        yield ""


def run(setting: Setting, turns: int, repeats: int) -> Report:
    """Measures all sides that are there."""
    settings = {**asdict(setting), "turns": turns, "repeats": repeats}
    report = Report("recurrent", settings, "milliseconds, forward and backward")
    report.look_around()
    sides = {"clearformer": Side(ours, setting=setting, engine="numpy")}
    if find_spec("torch"):
        report.peer = "torch.nn"
        sides["torch.nn"] = Side(pytorch, setting=setting)
        sides["clearformer torch"] = Side(ours, setting=setting, engine="torch")
    else:
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    report.about = {name: side.about for name, side in sides.items()}
    taken = measure(sides, turns, repeats)
    report.take({name: [1e3 * seconds for seconds in taken[name]] for name in taken})
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cell", choices=GATES, default="lstm", help="default: lstm")
    parser.add_argument("--hidden", type=int, default=256, help="width; default: 256")
    parser.add_argument("--batch", type=int, default=32, help="sequences; default: 32")
    parser.add_argument("--seq", type=int, default=64, help="positions; default: 64")
    parser.add_argument("--threads", type=int, default=2, help="of every side; default: 2")
    parser.add_argument("--turns", type=int, default=15, help="of each side; default: 15")
    parser.add_argument("--repeats", type=int, default=40, help="in each turn; default: 40")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    setting = Setting(given.cell, given.hidden, given.batch, given.seq, given.threads)
    run(setting, given.turns, given.repeats).show(given.json)


if __name__ == "__main__":
    main()
