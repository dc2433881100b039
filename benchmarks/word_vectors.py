"""How long word vectors take on a text, and which words they find near each other.

    python benchmarks/word_vectors.py TEXT
    python benchmarks/word_vectors.py TEXT --near king --near day --turns 3 --json

Trains as `clearformer words TEXT` does: reading, counting and learning, each turn anew. The peer is
gensim's Word2Vec with the same dials, where it is installed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import clearformer as cf
from clearformer.engines.threads import processors
from clearformer.text.corpus import read_corpus
from clearformer.words.options import WordOptions
from clearformer.words.vocabulary import words_in
from report import Report

SENTENCE = 1_000
"""Words given to gensim at a time; it cuts off what is beyond 10,000."""


def timed(function: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the clock, and of processors."""
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - processor


def by_gensim(text: Path) -> None:
    """The same by the peer."""
    dials = WordOptions()
    words = words_in(read_corpus(text).text)
    sentences = [words[start : start + SENTENCE] for start in range(0, len(words), SENTENCE)]
    import_module("gensim.models").Word2Vec(
        sentences, sg=1, vector_size=dials.embed, window=dials.window, negative=dials.negatives,
        min_count=dials.least, epochs=dials.epochs, sample=dials.threshold, workers=processors(),
        seed=1,
    )  # fmt: skip


def run(text: Path, near: Sequence[str], turns: int, epochs: int) -> Report:
    """Trains in turns; then shows what is near the words."""
    report = Report(
        "word_vectors", {"text": text.name, "epochs": epochs}, "seconds", compares=False
    )
    report.look_around()
    has_peer = find_spec("gensim") is not None and epochs == WordOptions.epochs
    if not has_peer:
        report.note("gensim is not installed (or the epochs differ); clearformer is measured alone")
    samples: dict[str, list[float]] = {}
    for turn in range(turns):
        wall, processor = timed(lambda: cf.word_vectors(text, epochs=epochs))
        samples.setdefault("clearformer", []).append(wall)
        samples.setdefault("clearformer, processor", []).append(processor)
        if has_peer:
            samples.setdefault("gensim", []).append(timed(lambda: by_gensim(text))[0])
        report.progress(f"turn {turn + 1} of {turns}: {wall:.1f} s")
    report.take(samples)
    report.about = {"clearformer": "reading, counting, learning; NumPy, one thread"}
    vectors = cf.word_vectors(text, epochs=epochs)
    report.extra = {"words": len(vectors), "loss": vectors.loss, "near": {}}
    report.lines = [f"  {len(vectors):,} words, loss {vectors.loss:.4f} nats for a pair"]
    for word in near:
        found = vectors.near(word, 8)
        report.extra["near"][word] = found
        report.lines.append(f"  {word}: " + ", ".join(f"{each} {c:.2f}" for each, c in found))
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, trains, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, metavar="TEXT", help="file to learn from")
    parser.add_argument("--near", action="append", default=[], metavar="WORD")
    parser.add_argument("--turns", type=int, default=3, help="default: 3")
    parser.add_argument("--epochs", type=int, default=WordOptions.epochs)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    try:
        run(given.text, given.near, given.turns, given.epochs).show(given.json)
    except cf.ClearformerError as error:
        sys.exit(f"word_vectors: {error}")


if __name__ == "__main__":
    main()
