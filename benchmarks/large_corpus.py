"""A corpus larger than memory: prepared and trained on under a limit, memory and speed measured.

    python benchmarks/large_corpus.py                               # 2 GiB under 512 MiB
    python benchmarks/large_corpus.py --mebibytes 64 --limit 300 --steps 200
    python benchmarks/large_corpus.py --tokenizers bytepair --json

Makes a text of numbered sentences of made-up words, of which few are frequent and many are rare,
in a temporary folder, and removes it. For each tokenizer it is prepared by the command a person
would type, and then trained on. Memory is anonymous memory (which cannot be read again from a
file) of all processes together, looked at five times a second. The limit is set with a control
group where this process may make one; it counts the files that the system keeps in memory, too.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import clearformer as cf
from clearformer.benchmarking.start import environment
from clearformer.corpora.prepare import prepare
from clearformer.corpora.sizes import Sizes
from clearformer.errors import Interrupted
from clearformer.training.events import Reporter, Step
from report import Report

KINDS: dict[str, tuple[str, ...]] = {
    "characters": (),
    "words": ("--vocab", "20000"),
    "bytepair": ("--vocab", "8000"),
}
"""Each tokenizer with its options."""

LOOK_SECONDS = 0.2
WORDS = 40_000
SENTENCES = 20_000  # made at once
VOWELS = ("a", "e", "i", "o", "u", "ai", "or", "en")
MIB = 1 << 20
GROUPS = Path("/sys/fs/cgroup/memory")


def write_text(path: Path, size: int) -> None:
    """Writes at least `size` bytes of numbered sentences; always the same ones."""
    rng = np.random.default_rng(0)
    words = np.array(made_up_words(rng))
    number = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        while file.tell() < size:
            ends = np.cumsum(rng.integers(4, 16, SENTENCES))
            ranks = np.minimum(rng.zipf(1.3, int(ends[-1])) - 1, WORDS - 1)
            drawn = words[ranks].tolist()
            for begin, end in pairwise([0, *ends.tolist()]):
                number += 1
                file.write(f"{number}. {' '.join(drawn[begin:end]).capitalize()}.\n")


def made_up_words(rng: np.random.Generator) -> list[str]:
    """Words of one to four syllables, the short ones first."""
    syllables = [onset + vowel for onset in "bcdfghklmnprstvw" for vowel in VOWELS]
    found: dict[str, None] = {}
    while len(found) < WORDS:
        drawn = rng.integers(len(syllables), size=(WORDS, 4)).tolist()
        for word, count in zip(drawn, rng.integers(1, 5, WORDS).tolist(), strict=True):
            found["".join(syllables[syllable] for syllable in word[:count])] = None
    return sorted(found, key=len)[:WORDS]


class MemoryWatch:
    """Looks at the anonymous memory of a process and of all that it began."""

    def __init__(self, root: int) -> None:
        self._root, self._ended = root, threading.Event()
        self.most = 0.0
        self.readings: list[tuple[float, float]] = []
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        begun = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            held = anonymous_memory(self._root)
            self.most = max(self.most, held)
            self.readings.append((time.monotonic() - begun, held))


def anonymous_memory(root: int) -> float:
    """Of a process and all its descendants, in MiB. Only Linux tells it."""
    parents, held = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = (folder / "status").read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        parents[int(folder.name)] = int(fields["PPid"])
        held[int(folder.name)] = int(fields.get("RssAnon", "0 kB").split()[0]) / 1024
    family = {root}
    while grown := {each for each, parent in parents.items() if parent in family} - family:
        family |= grown
    return sum(held.get(each, 0.0) for each in family)


@contextmanager
def limited(mebibytes: int) -> Iterator[tuple[Sequence[str], str]]:
    """What to put before a command so that it is held to the limit, and how it is held."""
    group = GROUPS / f"clearformer-{os.getpid()}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(mebibytes * MIB))
    except OSError:
        yield (), "no limit was set"
        return
    enter = ("/bin/sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
    try:
        yield enter, f"held to {mebibytes} MiB by a control group"
    finally:
        for _ in range(100):  # until the last process has left
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.1)


def watched(arguments: Sequence[str], enter: Sequence[str]) -> tuple[float, MemoryWatch, str]:
    """Seconds, memory and output of a Python process, which must end well."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [*enter, sys.executable, *arguments],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    with MemoryWatch(process.pid) as watch:
        out, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return time.monotonic() - begun, watch, out


class StopAfter(Reporter):
    """Stops a run after some steps, before it is judged; tells its memory on the way."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self.held: dict[int, float] = {}

    def step(self, step: Step) -> None:
        """Reads memory ten times; then asks the run to stop."""
        if step.step % max(self._steps // 10, 1) == 0:
            self.held[step.step] = anonymous_memory(os.getpid())
        if step.step == self._steps:
            signal.raise_signal(signal.SIGINT)


def train_here(data: Path, run: Path, steps: int) -> None:
    """Trains for some steps and prints memory and speed; in a process of its own."""
    reporter = StopAfter(steps)
    begun = time.monotonic()
    try:
        cf.train(data, out=run, size="tiny", steps=10 * steps, evaluations=1, reporter=reporter)
    except Interrupted:
        seconds = time.monotonic() - begun
        print(json.dumps({"held": reporter.held, "steps_per_second": steps / seconds}))


def prepare_here(text: Path, data: Path, kind: str, block: int) -> None:
    """Prepares with small pieces, for a small text; in a process of its own."""
    sizes = Sizes(piece=block, block=block, shard=4 * block, landmark=4 * block)
    prepare(text, data, tokenizer=kind, vocab=None, workers=2, sizes=sizes)


def measured(kind: str, text: Path, folder: Path, given: Any, report: Report) -> dict[str, Any]:
    """Prepares, trains and evaluates with one tokenizer."""
    data, run = folder / f"data-{kind}", folder / f"run-{kind}"
    size = text.stat().st_size
    with limited(given.limit) as (enter, how):
        report.progress(f"{kind}: preparing, {how}")
        command = ("-m", "clearformer", "prepare", str(text), "--out", str(data), "--json")
        seconds, watch, out = watched([*command, "--tokenizer", kind, *KINDS[kind]], enter)
        made = json.loads(out)
        report.progress(f"{kind}: {size / 1e6 / seconds:.1f} MB/s, most {watch.most:.0f} MiB")
        script = (__file__, "--train-here", str(data), str(run), "--steps", str(given.steps))
        _, training, out = watched(script, enter)
        trained = json.loads(out)
        report.progress(f"{kind}: trained, most {training.most:.0f} MiB")
    held = list(trained["held"].values())
    return {
        "limit": how,
        "megabytes_per_second": size / 1e6 / seconds,
        "prepare_seconds": seconds,
        "prepare_most_mebibytes": watch.most,
        "tokens": made["tokens"] + made["validation_tokens"],
        "data_bytes": made["bytes"],
        "train_most_mebibytes": training.most,
        "train_growth": max(held[1:]) / held[0] - 1,
        "train_held": trained["held"],
        "steps_per_second": trained["steps_per_second"],
    }


def large_corpus(given: Any) -> Report:
    """All tokenizers, one after the other, on one text."""
    settings = {"mebibytes": given.mebibytes, "limit": given.limit, "steps": given.steps}
    report = Report("large corpus", settings, "MiB of anonymous memory, MB/s", compares=False)
    report.look_around()
    with TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        text = folder / "text.txt"
        report.progress("writing the text")
        write_text(text, given.mebibytes * MIB)
        for kind in given.tokenizers:
            found = measured(kind, text, folder, given, report)
            report.extra[kind] = found
            report.lines.append(
                f"  {kind:10}  prepare {found['megabytes_per_second']:6.1f} MB/s, most "
                f"{found['prepare_most_mebibytes']:4.0f} MiB; train most "
                f"{found['train_most_mebibytes']:4.0f} MiB, grew {found['train_growth']:+.1%}; "
                f"{found['limit']}"
            )
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mebibytes", type=int, default=2048, help="of text; default: 2048")
    parser.add_argument("--limit", type=int, default=512, help="MiB of memory; default: 512")
    parser.add_argument("--steps", type=int, default=10_000, help="to train; default: 10,000")
    parser.add_argument("--tokenizers", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--folder", type=Path, help="where the text and the data are put")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--train-here", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--prepare-here", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.train_here:
        data, run = given.train_here
        train_here(data, run, given.steps)
    elif given.prepare_here:
        text, out, kind, block = given.prepare_here
        prepare_here(Path(text), Path(out), kind, int(block))
    else:
        large_corpus(given).show(given.json)


if __name__ == "__main__":
    main()
