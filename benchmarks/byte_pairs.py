"""Byte pairs learned from a text, and the text encoded: against `tokenizers` and `tiktoken`.

    python benchmarks/byte_pairs.py TEXT
    python benchmarks/byte_pairs.py TEXT --what encoding --vocabulary 8192 --json
    python benchmarks/byte_pairs.py --what one-letter

Every side works on the whole text, with a tokenizer that has met none before. `one-letter` learns,
encodes and decodes 200 kB of one letter, which tokenizers takes many seconds for. tiktoken is not
installed by this script; without it that side is left out.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import clearformer as cf
from clearformer.benchmarking.byte_pairs import MAKES, Setting, one_letter, run
from clearformer.runs.sources import corpus_of
from report import show


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, nargs="?", help="default: Python's documentation")
    parser.add_argument("--what", choices=MAKES, default="training", help="default: training")
    parser.add_argument("--vocabulary", type=int, default=2048, help="default: 2048")
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    parser.add_argument("--turns", type=int, default=7, help="of each side; default: 7")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    try:
        text = corpus_of(given.text).text
        setting = Setting(text, given.vocabulary, given.threads)
        if given.what == "one-letter":
            setting = one_letter(given.threads)
        show(run(given.what, setting, given.turns), given.json)
    except cf.ClearformerError as error:
        sys.exit(f"byte_pairs: {error}")


if __name__ == "__main__":
    main()
