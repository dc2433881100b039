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
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from clearformer.benchmarking import attention
from clearformer.benchmarking.attention import WAYS, Setting
from clearformer.benchmarking.interleave import Side, Work, blas_limited, blas_threads
from clearformer.benchmarking.report import Report as Part
from clearformer.engines.numpy.attention_whole import attend_whole
from report import Report, readable
from start import most_resident, resident


def whole(setting: Setting) -> Work:
    """Our plain way, with the whole table."""
    *inputs, grad = setting.arrays()
    with blas_limited(setting.threads):
        yield blas_threads()
        while True:
            query, key, value = inputs
            _, gradient = attend_whole(query, key, value, None, True, query.shape[-1] ** -0.5)
            if setting.backwards:
                gradient(grad)
            yield ""


def sides_of(with_whole: bool) -> dict[str, Callable[..., Work]]:
    """Whoever is there, clearformer first."""
    return attention.sides() | ({"whole table": whole} if with_whole else {})


def megabytes(side: Callable[..., Work], setting: Setting) -> Work:
    """Says how much one call adds to its process at its height, a small one having gone before."""
    small, work = side(replace(setting, length=16)), side(setting)
    for each in (small, small, work):
        next(each)
    before = resident()
    next(work)
    yield str(most_resident() - before)


def one(setting: Setting, turns: int, with_whole: bool) -> Part:
    """Measures one length in one way, and what a call takes up."""
    makers = sides_of(with_whole)
    memory = {name: height(make, setting) for name, make in makers.items()}
    report = attention.run(setting, turns, makers)
    report.extra["megabytes"] = memory
    told = (f"{name} {readable(found)}" for name, found in memory.items())
    report.lines.append(f"  megabytes at the height of a call: {', '.join(told)}")
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
