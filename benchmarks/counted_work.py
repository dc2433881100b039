"""Counts the work of small fixed models, where time would be too noisy to hold a test.

    python benchmarks/counted_work.py             beside what was recorded
    python benchmarks/counted_work.py --record    what is counted now becomes the record

For each piece of work, on one thread, after a warm-up: calls of clearformer's own functions,
records on the tape, arrays that NumPy allocated, their bytes, and the most bytes held at any time
beyond what was held before. None of it depends on how busy the machine is. A test holds each within
15 % of the record; who makes it less records it anew.
"""

import argparse
import gc
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import clearformer
from allocations import counting
from clearformer.benchmarking.training_step import training_loop
from clearformer.engines.tape import Tape, value_and_gradients
from clearformer.engines.threads import one_of_several
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import SIZES, ModelConfiguration
from clearformer.models.scaled_dot_product import attention
from clearformer.text.bytepair import BytePairs
from clearformer.training.options import TrainingOptions

RECORD = Path(__file__).parent / "record" / "counted.json"
ALLOWED = 115
"""Percent of the record; more is a loss. Other versions of Python and NumPy differ by less."""

PACKAGE = str(Path(clearformer.__file__).parent)
VOCABULARY, LENGTH, WIDTH = 65, 512, 32
TOKENS = 24
"""Of a generation; within the context, so that the cache never starts anew."""

Work = Callable[[], object]
Counted = dict[str, int]


def training(recipe: Any) -> Work:
    """A step on one worker."""
    made = ModelConfiguration(VOCABULARY, recipe=recipe, **SIZES["tiny"])
    options = TrainingOptions(steps=1000, batch=8, warm_up=0.0, decay_from=1.0, workers=1)
    ids = np.random.default_rng(0).integers(VOCABULARY, size=5000, dtype=np.uint8)
    return training_loop(build_decoder(made, np.random.default_rng(1)), ids, made, options).one_step


def writing() -> Work:
    """A few tokens of one stream."""
    made = ModelConfiguration(VOCABULARY, **SIZES["tiny"])
    model, rng = build_decoder(made, np.random.default_rng(0)), np.random.default_rng(1)

    def write() -> None:
        ids = generate(model, [1], TOKENS, context=made.context, sampling=Sampling(), rng=rng)
        for _ in ids:
            pass

    return write


def looking(backward: bool) -> Work:
    """Causal attention over many positions."""
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((1, 2, LENGTH, WIDTH)).astype(np.float32) for _ in range(3)]

    def look(*tensors: Any) -> Any:
        return attention(*tensors, causal=True)

    return (lambda: value_and_gradients(look, *parts)) if backward else lambda: look(*parts)


def encoding(text: str) -> Work:
    """Byte pairs learned, and the text encoded and decoded."""

    def learn() -> None:
        made = BytePairs.of(text, 300)
        made.decode(made.encode(text))

    return learn


WORK: Mapping[str, Callable[[], Work]] = {
    "training step, modern": lambda: training("modern"),
    "training step, classic": lambda: training("classic"),
    f"generation of {TOKENS} tokens": writing,
    f"attention over {LENGTH}": lambda: looking(backward=False),
    f"attention over {LENGTH} and back": lambda: looking(backward=True),
    "byte pairs of 40 kB of one letter": lambda: encoding("a" * 40_000),
    "byte pairs of 40 kB in two letters": lambda: encoding("ab" * 20_000),
}


def counted(work: Work) -> Counted:
    """Does the work a few times, the first two only to warm up; counts."""
    work()
    work()
    gc.collect()
    gc.disable()
    try:
        with counting() as allocated:
            work()
        arrays, size = allocated.arrays, allocated.bytes
        calls, records = _calls(work)
        return {
            "calls": calls,
            "records": records,
            "arrays": arrays,
            "bytes": size,
            "most_bytes": _most_bytes(work),
        }
    finally:
        gc.enable()


def _calls(work: Work) -> tuple[int, int]:
    """Calls of functions of the package that have a name, and records on a tape."""
    calls = records = 0
    recording = Tape.append.__code__

    def look(frame: Any, event: str, _: Any) -> None:
        nonlocal calls, records
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name[0] != "<":
            calls += 1
            records += code is recording

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls, records


def _most_bytes(work: Work) -> int:
    tracemalloc.start()
    try:
        held, _ = tracemalloc.get_traced_memory()
        work()
        return tracemalloc.get_traced_memory()[1] - held
    finally:
        tracemalloc.stop()


def losses(now: Mapping[str, Counted], before: Mapping[str, Counted]) -> Iterator[str]:
    """What is more than the record allows, a sentence each."""
    for name, recorded in before.items():
        for what, count in recorded.items():
            found = now[name][what]
            if 100 * found > ALLOWED * count:
                yield f"{name}: {found:,} {what}; {count:,} recorded ({found / count:.2f} times)"


def all_counted() -> dict[str, Counted]:
    """Everything, one after the other."""
    with one_of_several():  # else other threads would do a share that nobody counts
        return {name: counted(make()) for name, make in WORK.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts, compares, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", action="store_true", help="keep what is counted now")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    os.environ["CLEARFORMER_COMPILED"] = "never"  # what everybody has
    now = all_counted()
    before = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    if given.record:
        RECORD.parent.mkdir(exist_ok=True)
        RECORD.write_text(json.dumps(now, indent=1) + "\n", "utf-8")
    if given.json:
        print(json.dumps(now, indent=1))
        return 0
    for name, counts in now.items():
        print(name)
        for what, count in counts.items():
            beside = before.get(name, {}).get(what)
            print(f"  {what:10} {count:13,}" + (f"  {count / beside:6.3f}" if beside else ""))
    lost = [] if given.record else list(losses(now, before))
    print("\n".join(f"LOST {each}" for each in lost))
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
