"""Tokens per second of one stream, with the key–value cache; against PyTorch eager, or a C program.

    python benchmarks/generation_speed.py
    python benchmarks/generation_speed.py --size large --vocabulary 50257 --tokens 256 --json
    python benchmarks/generation_speed.py --llama --c-program path/to/run

A repeat is one whole generation after a prompt of one token, as `run.generate` does it: preparing
the weights, reading the prompt, every token drawn. Both sides have the same weights and windows.
Small products gain nothing from threads, so PyTorch is also measured with one. It is not installed
by this script; without it there is no ratio.

With `--llama` the model is made of the pieces that C programs and Hugging Face have (RMS norms,
turned queries and keys, SwiGLU), of as many weights, and every side is timed from its first token
to its last, as those programs time themselves: clearformer in plain NumPy, compiled if numba is
installed; a C program (clearformer.benchmarking.peer_c says how to get it), if one is named;
Hugging Face's Llama, if it is installed.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from clearformer.benchmarking import llama_speed
from clearformer.benchmarking.generation_speed import MOST_TOKENS, REPEATS, Setting, run
from clearformer.models.configuration import RECIPES, SIZES
from report import show


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small", help="default: small")
    parser.add_argument("--recipe", choices=RECIPES, default="modern", help="default: modern")
    parser.add_argument("--vocabulary", type=int, default=65, help="default: 65")
    parser.add_argument("--tokens", type=int, help="in a generation; default: context, at most 256")
    parser.add_argument("--temperature", type=float, default=0.8, help="0 is greedy; default: 0.8")
    parser.add_argument("--threads", type=int, default=2, help="of both sides; default: 2")
    parser.add_argument("--turns", type=int, default=9, help="of each side; default: 9")
    parser.add_argument("--repeats", type=int, help="in a turn; default: as the size has it")
    parser.add_argument("--llama", action="store_true", help="the pieces of Llama 2, other peers")
    parser.add_argument("--c-program", type=Path, help="such as llama2.c's run; needs --llama")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    tokens = given.tokens or min(SIZES[given.size]["context"], MOST_TOKENS)
    if given.c_program and not given.llama:
        parser.error("--c-program needs --llama: the program has no other pieces")
    if given.llama and (given.recipe != "modern" or tokens < 2):
        parser.error("--llama needs the recipe modern and 2 tokens or more")
    dials = (given.size, given.recipe, given.vocabulary, tokens, given.temperature)
    times = (given.threads, given.turns, given.repeats or REPEATS[given.size])
    if given.llama:
        report = llama_speed.run(llama_speed.LlamaSetting(*dials), *times, given.c_program)
    else:
        report = run(Setting(*dials), *times)
    show(report, given.json)


if __name__ == "__main__":
    main()
