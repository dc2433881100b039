"""Time and memory of causal attention: clearformer's NumPy engine against PyTorch's fused kernel.

    python benchmarks/attention.py
    python benchmarks/attention.py --lengths 256 512 1024 2048 4096 8192 --whole --json

Both sides start from the same float32 numbers, one sequence of several heads, and take turns, once
forwards alone and once forwards and backwards, all three inputs receiving a gradient; a test holds
them equal. `--whole` adds our plain way, which forms the whole table of scores. Memory is what one
call adds to a process at its height, its results included. PyTorch is not installed by this script;
without it there is no ratio.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from clearformer.engines.numpy.attention import attention
from clearformer.engines.numpy.attention_whole import attend_whole
from clearformer.engines.tape import Tape
from interleave import Side, Work, blas_threads, measure
from report import Report, readable
from start import most_resident, resident

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
    heads: int
    width: int
    threads: int

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


def ours(setting: Setting, whole: bool = False) -> Work:
    """As anybody may call it: on as many threads as a product of matrices may use."""
    *inputs, grad = setting.arrays()
    with threadpool_limits(setting.threads, user_api="blas"):
        yield blas_threads()
        while True:
            if whole:
                plainly(inputs, grad if setting.backwards else None)
            elif setting.backwards:
                gradients(*inputs, grad)
            else:
                attention(*inputs, causal=True)
            yield ""


def gradients(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of query, key and value; the gradient of the result comes last."""
    *inputs, grad = arrays
    tape = Tape()
    leaves = [tape.watch(x) for x in inputs]
    tape.backward(attention(*leaves, causal=True), grad)
    return tuple(map(tape.gradient, leaves))


def plainly(inputs: Sequence[np.ndarray], grad: np.ndarray | None) -> None:
    """With the whole table."""
    query, key, value = inputs
    _, gradient = attend_whole(query, key, value, None, True, query.shape[-1] ** -0.5)
    if grad is not None:
        gradient(grad)


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


def megabytes(side: Callable[..., Work], setting: Setting) -> Work:
    """Says how much one call adds to its process at its height, a small one having gone before."""
    small, work = side(replace(setting, length=16)), side(setting)
    for each in (small, small, work):
        next(each)
    before = resident()
    next(work)
    yield str(most_resident() - before)


def sides_of(with_whole: bool) -> dict[str, Callable[..., Work]]:
    """Whoever is there, clearformer first."""
    sides: dict[str, Callable[..., Work]] = {"clearformer": ours}
    if find_spec("torch"):
        sides["PyTorch SDPA"] = pytorch
    if with_whole:
        sides["whole table"] = partial(ours, whole=True)
    return sides


def one(setting: Setting, turns: int, with_whole: bool) -> Report:
    """Measures one length in one way."""
    report = Report("attention", asdict(setting), "milliseconds")
    makers = sides_of(with_whole)
    memory = {name: height(make, setting) for name, make in makers.items()}
    report.extra["megabytes"] = memory
    told = (f"{name} {readable(found)}" for name, found in memory.items())
    report.lines.append(f"  megabytes at the height of a call: {', '.join(told)}")
    sides = {name: Side(make, setting=setting) for name, make in makers.items()}
    report.about = {name: side.about for name, side in sides.items()}
    taken = measure(sides, turns, setting.repeats)
    report.take({name: [1e3 * seconds for seconds in taken[name]] for name in taken})
    return report


def height(make: Callable[..., Work], setting: Setting) -> float:
    """Megabytes of one call, in a process of its own."""
    side = Side(megabytes, side=make, setting=setting)
    side.close()
    return float(side.about)


def run(
    settings: Iterator[Setting], turns: int, with_whole: bool, common: dict[str, Any]
) -> Report:
    """Measures all lengths, both ways."""
    report = Report("attention", common, "milliseconds", compares=False)
    report.look_around()
    if not find_spec("torch"):
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    report.extra["results"] = []
    for setting in settings:
        name = f"{setting.length:,} positions, {WAYS[setting.backwards]}"
        report.progress(name)
        part = one(setting, turns, with_whole)
        _, _, _, *table = part.table().split("\n")
        report.lines += ["", name, *table[1:]]
        report.extra["results"].append(part.document())
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024, 4096], metavar="LENGTH")
    parser.add_argument("--heads", type=int, default=8, help="default: 8")
    parser.add_argument("--width", type=int, default=64, help="of each head; default: 64")
    parser.add_argument("--threads", type=int, default=2, help="of every side; default: 2")
    parser.add_argument("--turns", type=int, default=15, help="of each side; default: 15")
    parser.add_argument("--whole", action="store_true", help="also measure our plain way")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    common = {"heads": given.heads, "width": given.width, "threads": given.threads}
    settings = (
        Setting(length, backwards, **common) for length in given.lengths for backwards in WAYS
    )
    run(settings, given.turns, given.whole, {**common, "turns": given.turns}).show(given.json)


if __name__ == "__main__":
    main()
