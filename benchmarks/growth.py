"""How time and memory grow: with length, width, depth, batch, vocabulary and threads.

    python benchmarks/growth.py                      all parts, then the pictures
    python benchmarks/growth.py --part length        one part; the others stay as they were
    python benchmarks/growth.py --draw               the pictures again, from what is recorded

What is measured goes into benchmarks/record/growth.json, the pictures into
docs/explanation/pictures, the tables into docs/explanation/growth.md. Each part also measures what
the machine could do at best, in the same run: products of large matrices, and numbers read from
memory that no cache holds. An exponent is that of the power law through the upper points, with its
95 % interval.
"""

import argparse
import json
import re
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from clearformer.benchmarking.interleave import blas_limited
from clearformer.benchmarking.report import busy_share, readable, this_machine
from clearformer.benchmarking.training_step import training_loop
from clearformer.comparison.report.alone import alone
from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup
from clearformer.comparison.report.scale import count_label
from clearformer.comparison.why.line import power_through
from clearformer.comparison.why.works import attention_of
from clearformer.engines.threads import one_blas_thread, processors
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.products import step_flops
from clearformer.runs.workers import workers_for
from clearformer.training.memory import machine_bytes
from clearformer.training.options import TrainingOptions

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benchmarks" / "record" / "growth.json"
PAGE = ROOT / "docs" / "explanation" / "growth.md"
PICTURES = ROOT / "docs" / "explanation" / "pictures"

SMALL: dict[str, Any] = {"layers": 4, "heads": 4, "embed": 128, "context": 64}
VOCABULARY, BATCH, WIDTH = 65, 12, 64
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16_384)

TURN = 0.3
"""Seconds that a turn takes at least, by repeating what is short."""

TURNS = 3
LONGEST_TURN = 12.0
"""Seconds of one piece of work, beyond which a part goes no further."""

MEMORY_SHARE = 0.2
"""Of the memory that there is, for one piece of work: others may want some, too."""

FITTED = 4
"""Upper points through which the power law goes."""

LARGE = 1536
"""Rows of the matrices that show the peak."""

READ = 1 << 26
"""Numbers of four bytes that are read to show the bandwidth: 256 MiB."""

END = "<!-- /growth.py -->"
"""Behind the tables of a page."""

Work = Callable[[], object]


def seconds_of(work: Work) -> float:
    """Of one piece of work, the median of a few turns after one that does not count."""
    begun = time.perf_counter()
    work()
    once = time.perf_counter() - begun
    if once > LONGEST_TURN / 2:
        return once
    repeats = max(1, round(TURN / max(once, 1e-6)))
    taken = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        for _ in range(repeats):
            work()
        taken.append((time.perf_counter() - begun) / repeats)
    return median(taken)


def memory_of(work: Work) -> int:
    """Bytes held at most beyond those held before."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def peak(threads: int) -> float:
    """Multiplications and additions per second, in products of large float32 matrices."""
    a = np.full((LARGE, LARGE), 0.5, np.float32)
    out = np.empty_like(a)
    with blas_limited(threads):
        return float(2 * LARGE**3 / seconds_of(lambda: np.matmul(a, a, out=out)))


def bandwidth(threads: int) -> float:
    """Bytes read per second, from arrays that no cache holds."""
    parts = np.array_split(np.ones(READ, np.float32), threads)
    with ThreadPoolExecutor(threads) as pool, blas_limited(1):
        return READ * 4 / seconds_of(lambda: list(pool.map(lambda part: part.dot(part), parts)))


def step(
    threads: int | None, batch: int = BATCH, vocabulary: int = VOCABULARY, **sizes: Any
) -> Any:
    """A training loop of the default recipe, and the work of its step.

    On as many threads as `train` would take unless it is said how many.
    """
    made = ModelConfiguration(vocabulary, **{**SMALL, **sizes})
    options = TrainingOptions(
        steps=1_000_000, batch=batch, warm_up=0.0, decay_from=1.0, workers=threads
    )
    options = replace(options, workers=workers_for(options, made))
    ids = np.random.default_rng(1).integers(vocabulary, size=max(100_000, 2 * made.context))
    model = build_decoder(made, np.random.default_rng(0))
    return training_loop(model, ids, made, options), step_flops(made, batch)


Point = dict[str, float]


def steps(name: str, values: Sequence[int]) -> Iterator[Point]:
    """Training steps while one dial grows."""
    memory = 0
    for number, value in enumerate(values):
        dials: dict[str, Any] = {name: value}
        if name == "embed":
            dials["heads"] = max(1, value // 32)
        if name == "context":
            dials["batch"] = 1
        factor = (value / values[number - 1]) ** 2 if number else 1
        if memory * factor > MEMORY_SHARE * (machine_bytes() or sys.maxsize):
            return
        loop, flops = step(None, **dials)
        with loop.learner.running():
            taken = seconds_of(loop.one_step)
        alone, _ = step(1, **dials)  # one process does not see what another's arrays hold
        with alone.learner.running():
            memory = memory_of(alone.one_step)
        yield {"x": value, "seconds": taken, "bytes": memory, "flops": flops}
        if taken > LONGEST_TURN:
            return


def attention_alone(values: Sequence[int]) -> Iterator[Point]:
    """Causal attention, forwards and backwards, one head, one thread."""
    make, memory = attention_of(WIDTH), 0
    with one_blas_thread():
        for value in values:
            if 4 * memory > MEMORY_SHARE * (machine_bytes() or sys.maxsize):
                return
            work = make(value)
            taken, memory = seconds_of(work), memory_of(work)
            yield {"x": value, "seconds": taken, "bytes": memory}
            if taken > LONGEST_TURN:
                return


def on_threads(values: Sequence[int]) -> Iterator[Point]:
    """The same step on more threads, and what products alone do on them."""
    for value in values:
        loop, flops = step(value)
        with loop.learner.running():
            taken = seconds_of(loop.one_step)
        yield {"x": value, "seconds": taken, "flops": flops, "peak": peak(value)}


def decoder(**sizes: Any) -> tuple[Any, ModelConfiguration, int]:
    """A model that writes, and the bytes of what it reads for every token."""
    made = ModelConfiguration(VOCABULARY, **{**SMALL, **sizes})
    model = build_decoder(made, np.random.default_rng(0))
    read = sum(array.nbytes for name, array in model.parameters().items() if array.ndim > 1)
    return model, made, read


def writing(name: str, values: Sequence[int]) -> Iterator[Point]:
    """Seconds for a token while one dial grows."""
    for value in values:
        heads = {"heads": max(1, value // 32)} if name == "embed" else {}
        model, made, read = decoder(**{name: value}, **heads)

        def work(model: Any = model, made: ModelConfiguration = made) -> None:
            list(_tokens(model, made, 48))

        yield {"x": value, "seconds": seconds_of(work) / 48, "read": read}


def _tokens(model: Any, made: ModelConfiguration, many: int) -> Iterator[int]:
    rng = np.random.default_rng(0)
    return generate(model, [1], many, context=made.context, sampling=Sampling(), rng=rng)


def writing_on(values: Sequence[int]) -> Iterator[Point]:
    """Seconds for a token at places further and further on."""
    model, made, read = decoder(context=max(values))
    taken: list[float] = []
    begun = time.perf_counter()
    for _ in _tokens(model, made, max(values) - 1):
        now = time.perf_counter()
        taken.append(now - begun)
        begun = now
    for value in values:
        kept = 2 * 4 * made.layers * made.embed * value  # keys and values
        yield {"x": value, "seconds": median(taken[value - 65 : value - 1]), "read": read + kept}


def parts(threads: int) -> dict[str, Callable[[], Iterator[Point]]]:
    """What is measured, by name."""
    count = processors()
    return {
        "attention": lambda: attention_alone(LENGTHS),
        "length": lambda: steps("context", LENGTHS),
        "width": lambda: steps("embed", (32, 64, 128, 256, 512, 1024)),
        "depth": lambda: steps("layers", (1, 2, 4, 8, 16)),
        "batch": lambda: steps("batch", (1, 2, 4, 8, 16, 32, 64)),
        "vocabulary": lambda: steps("vocabulary", (64, 256, 1024, 4096, 16_384)),
        "threads": lambda: on_threads([n for n in (1, 2, 4, 8, 16) if n <= count]),
        "writing-length": lambda: writing_on(LENGTHS),
        "writing-width": lambda: writing("embed", (64, 128, 256, 512, 1024)),
        "writing-depth": lambda: writing("layers", (1, 2, 4, 8, 16)),
    }


def measured(name: str, make: Callable[[], Iterator[Point]], threads: int) -> dict[str, Any]:
    """One part: its points, the exponents, the machine's limits in the same run."""
    found: dict[str, Any] = {"busy": busy_share(), "threads": threads, "machine": this_machine()}
    found |= {"peak": peak(threads), "bandwidth": bandwidth(threads), "points": []}
    for point in make():
        print(f"{name} {point['x']:,}: {1e3 * point['seconds']:,.3f} ms", file=sys.stderr)
        found["points"].append(point)
    for what in ("seconds", "bytes"):
        upper = [point for point in found["points"] if point.get(what)][-FITTED:]
        if len(upper) > 1:
            law = power_through([p["x"] for p in upper], [p[what] for p in upper])
            found[f"exponent_of_{what}"] = [law.exponent, law.low, law.high]
    return found


def share(part: dict[str, Any], point: Point) -> float | None:
    """Of what the machine could do at best: arithmetic of a step, reading of a token."""
    if "flops" in point:
        return float(point["flops"] / point["seconds"] / point.get("peak", part["peak"]))
    return point["read"] / point["seconds"] / part["bandwidth"] if "read" in point else None


def told(name: str, part: dict[str, Any]) -> Iterator[str]:
    """A table of Markdown, and the exponents beneath it."""
    first = part["points"][0]
    heads = [name, "ms", *["MB"] * ("bytes" in first)]
    heads += ["share of the machine"] * (share(part, first) is not None)
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for point in part["points"]:
        of = share(part, point)
        cells = [f"{point['x']:,}", readable(1e3 * point["seconds"])]
        cells += [readable(point["bytes"] / 1e6)] if "bytes" in point else []
        cells += [f"{of:.0%}"] if of is not None else []
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield f"Exponent of {' and of '.join(_exponents(part))}."


def _exponents(part: dict[str, Any]) -> Iterator[str]:
    for what, called in {"seconds": "time", "bytes": "memory"}.items():
        if law := part.get(f"exponent_of_{what}"):
            spread = f" ({law[1]:.2f} … {law[2]:.2f})" if law[1] is not None else ""
            yield f"{called} {law[0]:.2f}{spread}"


def with_tables(page: str, record: dict[str, Any]) -> str:
    """A page whose tables are those of the record."""

    def filled(match: re.Match[str]) -> str:
        tables = [chr(10).join(told(name, record[name])) for name in match[1].split()]
        return f"<!-- growth.py: {match[1]} -->\n\n" + "\n\n".join([*tables, END])

    return re.sub(rf"<!-- growth\.py: ([a-z -]+?) -->.*?{END}", filled, page, flags=re.S)


SHOWN = {
    "time": ("Milliseconds of a training step", "seconds", 1e3,
             ("length", "width", "depth", "batch", "vocabulary")),
    "memory": ("Megabytes that a training step holds", "bytes", 1e-6,
               ("length", "width", "depth", "batch", "vocabulary")),
    "attention": ("Attention alone: milliseconds, forwards and backwards", "seconds", 1e3,
                  ("attention",)),
    "writing": ("Milliseconds for a token", "seconds", 1e3,
                ("writing-length", "writing-width", "writing-depth")),
}  # fmt: skip
"""Pictures: title, what is drawn, in which unit, of which parts."""


def draw(record: dict[str, Any]) -> None:
    """Writes the pictures."""
    PICTURES.mkdir(exist_ok=True)
    for name, (title, what, unit, of) in SHOWN.items():
        lines = []
        for colour, part in enumerate(each for each in of if each in record):
            known = [(p["x"], unit * p[what]) for p in record[part]["points"] if p.get(what)]
            label = part.removeprefix("writing-")
            law = record[part].get(f"exponent_of_{what}")
            label += f" {law[0]:.2f}" if law else ""
            lines.append(Line(label, colour, tuple(known), marked=True))
        x = Axis("each dial alone, the others as in a small model", powers=True, label=count_label)
        y = Axis(title, powers=True)
        described = "Exponent of each: " + ", ".join(line.label for line in lines)
        wide = line_chart(lines, x, y, title, described).split("</svg>")[0] + "</svg>"
        (PICTURES / f"growth-{name}.svg").write_text(alone(Markup(wide)), "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures, keeps, draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=min(processors(), 8))
    parser.add_argument("--part", action="append", choices=parts(1), help="default: all")
    parser.add_argument("--draw", action="store_true", help="only draw what is recorded")
    parser.add_argument("--json", action="store_true", help="print the record")
    parser.add_argument("--record", type=Path, default=RECORD, help="default: the repository's")
    given = parser.parse_args(arguments)
    record = json.loads(given.record.read_text("utf-8")) if given.record.exists() else {}
    wanted = [] if given.draw else (given.part or list(parts(1)))
    for name in wanted:
        record[name] = measured(name, parts(given.threads)[name], given.threads)
        given.record.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    if given.record == RECORD:
        draw(record)
        PAGE.write_text(with_tables(PAGE.read_text("utf-8"), record), "utf-8")
    if given.json:
        print(json.dumps(record, indent=1))
    else:
        shown = {name: part for name, part in record.items() if not wanted or name in wanted}
        print("\n\n".join("\n".join(told(name, part)) for name, part in shown.items()))


if __name__ == "__main__":
    main()
