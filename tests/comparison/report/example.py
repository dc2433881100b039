"""A comparison that nobody made, with everything that a report can show."""

from dataclasses import asdict
from typing import Any

from clearformer.comparison.document import MEASURES, Comparison, Point, Result
from clearformer.comparison.lesson.table import Figure, Lesson
from clearformer.comparison.why.fading import Fading
from clearformer.comparison.why.growth import Growth
from clearformer.comparison.why.looking import Head, Looking
from clearformer.comparison.why.reasons import Reasons
from clearformer.comparison.why.recall import Recalling, RecallPoint
from clearformer.comparison.why.seen import Seen
from clearformer.comparison.why.temperature import Temperature

KINDS = {"ngram": "n-gram", "rnn": "RNN", "lstm": "LSTM", "decoder": "modern decoder"}

NAMES = ("ngram", "rnn", "decoder")

SAMPLE = "<script>alert('&')</script>\n日本語の文章\x1b[31m"


def example(
    *, names: tuple[str, ...] = NAMES, seeds: int = 3, task: dict[str, Any] | None = None,
    sample: str = SAMPLE,
) -> Comparison:  # fmt: skip
    """Three models, three seeds, by text unless a task is given."""
    results = tuple(
        _result(name, number, seed, task)
        for number, name in enumerate(names)
        for seed in range(1 if name == "ngram" else seeds)
    )
    comparison = Comparison(
        results=results,
        summary={name: _summary([r for r in results if r.model == name]) for name in names},
        models=tuple(_model(name) for name in names),
        task={
            "name": "text", "settings": {}, "answer": None, "measure": "bits_per_character",
            "chance": None, "best": None, "entropy": None, "context": 64, **(task or {}),
        },
        budget={"parameters": 100_000, "tokens": 300_000, "seconds": None, "within": 0.02},
        search={
            name: {
                "trials": [
                    {"learning_rate": 1e-3, "loss": 2.5}, {"learning_rate": 3e-3, "loss": None},
                ],
                "chosen": 1e-3, "widened": False,
            }
            for name in names if name != "ngram"
        },
        training={
            "batch": 12, "context": 64, "clip": 1.0, "weight_decay": 0.1, "warm_up": 0.05,
            "decay_from": 0.5, "grid": [1e-3, 3e-3], "share": 0.2, "seeds": list(range(seeds)),
        },
        text={} if task else {
            "sources": ["a <b>.txt"], "characters": 465_048, "fingerprint": "2a95" * 16,
            "trained_on": 418_543, "judged_on": 46_505,
        },
        machine={
            "engine": "numpy", "device": None, "workers": 2, "system": "Linux",
            "processor": "x86_64", "python": "3.11", "numpy": "2.4", "clearformer": "0.1",
            "memory": "bytes at the height of a step",
        },
        findings=("rnn has the lowest bits per character.", "Behind it: decoder & ngram."),
        notes=("a note",),
    )  # fmt: skip
    why, temperature = reasons(names, sample).to_json()
    return comparison.with_why(why=why, temperature=temperature, lesson=lesson().to_json())


def by_recall() -> Comparison:
    """The same on a task with right answers."""
    return example(task={"name": "recall", "measure": "accuracy", "chance": 0.125, "answer": "row"})


def _result(name: str, number: int, seed: int, task: Any) -> Result:
    loss = 1.5 + 0.1 * number + 0.01 * seed
    curve = tuple(Point(1000 * step, 0.5 * step, 3.0 / step + loss) for step in range(1, 30))
    return Result(
        model=name, seed=seed, parameters=100_000 + number, tokens=300_000,
        seconds=14.25 + seed, tokens_per_second=20_000.5 - seed, loss=loss,
        bits_per_character=loss / 0.6931, perplexity=2.718**loss,
        accuracy=0.5 + 0.1 * number if task else None, memory=5_400_000,
        learning_rate=None if name == "ngram" else 1e-3,
        curve=() if name == "ngram" else curve,
    )  # fmt: skip


def _summary(results: list[Result]) -> dict[str, dict[str, Any]]:
    found = {}
    for measure in MEASURES:
        values = [getattr(result, measure) for result in results]
        if None in values:
            continue
        mean = sum(values) / len(values)
        half = None if len(values) == 1 else 0.01 * mean
        ends = (None, None) if half is None else (mean - half, mean + half)
        found[measure] = {"mean": mean, "low": ends[0], "high": ends[1], "seeds": len(values)}
    return found


def _model(name: str) -> dict[str, Any]:
    return {
        "name": name, "kind": name, "title": KINDS[name], "in_words": "2 layers,\nembed 44",
        "counting": name == "ngram", "parameters": 100_000, "configuration": {},
        "tokenizer": "characters", "vocabulary": 80,
    }  # fmt: skip


def reasons(names: tuple[str, ...], sample: str) -> Reasons:
    """Reasons of all models but the one that counts."""
    trained = [name for name in names if name != "ngram"]
    norms = tuple(0.5**step for step in range(65))
    lengths = (64, 128, 256, 512)
    weights = tuple(2 / (n + 2) / 10 for n in range(12))
    shown = ((1.0,), (0.25, 0.75))
    return Reasons(
        fading=tuple(Fading(name, norms, norms, 32) for name in trained),
        growth=tuple(
            Growth(name, lengths, tuple(1e-4 * n for n in lengths), 1.0, 0.9, 1.1, 4)
            for name in trained
        ),
        attention=Growth("attention", lengths, tuple(1e-8 * n**2 for n in lengths), 2.0, None,
                         None, 4),
        looking=tuple(
            Looking(name, (Head(0, 0, weights, shown), Head(0, 1, weights, None)), 64, ("あ", " "))
            for name in trained if name == "decoder"
        ),
        temperature=tuple(
            Temperature(name, (0.2, 0.8, 1.0, 2.0), (0.5, 2.0, 2.5, 4.0), (4.0, 2.6, 2.5, 3.0),
                        "The ", (sample,) * 4)
            for name in trained
        ),
        seen=tuple(
            Seen(name, (1, 2, 3, 5), (1, 2, 4, end), (4.0, 3.0, 2.5, None), 256)
            for name, end in zip(trained, (8, 6, 7), strict=False)
        ),
        recalling=tuple(
            Recalling(
                name,
                (RecallPoint(16, 0.9, 0.8, 1.0, 3), RecallPoint(64, 0.2, None, None, 1)),
                0.125,
            )
            for name in trained
        ),
    )  # fmt: skip


def lesson() -> Lesson:
    """Three rows with a figure in every cell."""

    def cells(model: str, bits: float) -> dict[str, tuple[Figure, ...]]:
        return {
            "predicts": (Figure(model, "bits_per_character", bits, bits - 0.1, bits + 0.1),),
            "remembers": tuple(Figure(model, "recall", 0.5, at=at) for at in (16, 64)),
            "reaches": (Figure(model, "gradient", 1.25e-7, at=32),),
            "costs": (Figure(model, "exponent", 1.02, 0.9, 1.1),),
            "speed": (Figure(model, "tokens_per_second", 20_486.4),),
        }

    rows = {"rnn": cells("RNN", 2.6), "gated": cells("LSTM", 2.5), "transformer": cells("T", 2.4)}
    return Lesson(
        rows, 9.5, {"text": 16.6, "recall 16": 8.25}, 100_000, 1, (16, 64), 0.125, "a <b>.txt"
    )


def as_figures(found: Lesson) -> list[dict[str, Any]]:
    """Every figure of a lesson."""
    return [asdict(each) for row in found.cells.values() for cell in row.values() for each in cell]
