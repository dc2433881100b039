"""Byte pairs learned from a text and put to use, beside the libraries that others use for it.

The peers are `tokenizers` (byte-level byte pairs as its documentation shows them; clearformer
itself hands it counted pieces) and, for encoding, `tiktoken`, which is given the very merges that
clearformer has learned, and the same pieces: its ids are the same, as a test holds.

Each repeat begins with a tokenizer that has met no text yet. `tokenizers` may use as many threads
as clearformer is given; clearformer and tiktoken use one.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from clearformer.benchmarking.interleave import Side, Work, measure
from clearformer.benchmarking.report import Report
from clearformer.text.bytepair import BytePairs
from clearformer.text.bytepair_learning import SEEN_TWICE
from clearformer.text.pieces import PATTERN

ONE_LETTER = 200_000
"""Bytes of a text of one letter, which may cost no more than others."""

TOKENIZERS, TIKTOKEN = "tokenizers", "tiktoken"


@dataclass(frozen=True)
class Setting:
    """What every side is told."""

    text: str
    vocabulary: int = 2048
    threads: int = 2

    @property
    def megabytes(self) -> float:
        """Of the text in UTF-8."""
        return len(self.text.encode("utf-8")) / 1e6


def learning(setting: Setting) -> Work:
    """Clearformer learns merges."""
    _limit(setting.threads)
    yield "counts on one thread"
    while True:
        BytePairs.of(setting.text, setting.vocabulary)
        yield ""


def learning_by_tokenizers(setting: Setting) -> Work:
    """The library learns merges from the text as it is."""
    _limit(setting.threads)
    yield f"{setting.threads} threads"
    while True:
        learned_by_tokenizers(setting)
        yield ""


def encoding(setting: Setting) -> Work:
    """Clearformer encodes the text."""
    learned = BytePairs.of(setting.text, setting.vocabulary).to_json()
    yield "one thread"
    while True:
        BytePairs.from_json(learned).encode(setting.text)
        yield ""


def encoding_by_tokenizers(setting: Setting) -> Work:
    """The library encodes the text, all lines at once, so that it can share them out."""
    from tokenizers import Tokenizer

    _limit(setting.threads)
    learned = learned_by_tokenizers(setting).to_str()
    lines = setting.text.splitlines(keepends=True)
    yield f"{setting.threads} threads, line by line"
    while True:
        Tokenizer.from_str(learned).encode_batch(lines)
        yield ""


def encoding_by_tiktoken(setting: Setting) -> Work:
    """The other library encodes the text, with our merges."""
    learned = BytePairs.of(setting.text, setting.vocabulary)
    yield "one thread, the same ids"
    while True:
        in_tiktoken(learned).encode_ordinary(setting.text)
        yield ""


def both_ways(setting: Setting) -> Work:
    """Clearformer learns, encodes and decodes."""
    yield "learning, encoding, decoding"
    while True:
        made = BytePairs.of(setting.text, setting.vocabulary)
        made.decode(made.encode(setting.text))
        yield ""


def both_ways_by_tokenizers(setting: Setting) -> Work:
    """The same by the library."""
    _limit(setting.threads)
    yield "learning, encoding, decoding"
    while True:
        made = learned_by_tokenizers(setting)
        made.decode(made.encode(setting.text).ids)
        yield ""


def learned_by_tokenizers(setting: Setting) -> Any:
    """Byte-level byte pairs as the library's documentation shows them."""
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer

    made = Tokenizer(BPE())
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=setting.vocabulary,
        min_frequency=SEEN_TWICE,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(setting.text.splitlines(keepends=True), trainer)
    return made


def in_tiktoken(learned: BytePairs) -> Any:
    """The same merges and pieces in tiktoken."""
    from tiktoken import Encoding  # type: ignore[import-not-found, unused-ignore]

    ranks = {learned.token_bytes(id): id for id in range(learned.vocabulary_size)}
    return Encoding("ours", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _limit(threads: int) -> None:
    """Before the library is loaded: it reads this once."""
    os.environ["RAYON_NUM_THREADS"] = str(threads)


MAKES: dict[str, dict[str, Callable[[Setting], Work]]] = {
    "training": {"clearformer": learning, TOKENIZERS: learning_by_tokenizers},
    "encoding": {
        "clearformer": encoding,
        TOKENIZERS: encoding_by_tokenizers,
        TIKTOKEN: encoding_by_tiktoken,
    },
    "one-letter": {"clearformer": both_ways, TOKENIZERS: both_ways_by_tokenizers},
}
"""What is measured, and who does it."""


def run(
    what: str,
    setting: Setting,
    turns: int,
    progress: Callable[[float], None] | None = None,
    peers: bool = True,
) -> Report:
    """Measures one of `MAKES` by all who are there; without peers, ours alone."""
    settings = {"what": what, "vocabulary": setting.vocabulary, "turns": turns}
    settings |= {"megabytes": round(setting.megabytes, 3), "threads": setting.threads}
    report = Report("byte_pairs", settings, "seconds")
    report.look_around()
    sides = {}
    for name, make in list(MAKES[what].items())[: None if peers else 1]:
        if name != TIKTOKEN or find_spec(TIKTOKEN):
            sides[name] = Side(make, setting=setting)
        else:
            report.note("tiktoken is not installed (pip install tiktoken)")
    report.about = {name: side.about for name, side in sides.items()}
    report.take(measure(sides, turns, 1, progress))
    return report


def one_letter(threads: int) -> Setting:
    """A text that is a single run."""
    return Setting("a" * ONE_LETTER, threads=threads)
