"""A C program as a peer: one that reads the files of llama2.c and says `achieved tok/s`.

https://github.com/karpathy/llama2.c: get its `run.c`, then

    gcc -Ofast -march=native -fopenmp run.c -o run -lm

The program reads a model and a tokenizer from files; both are written here, the model with our own
weights. What it says of itself is taken: tokens after the first one, over the time they took.
"""

import os
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.errors import ClearformerError, ConfigurationError
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.positions import rotary_turns

END = 1
"""The token with which the program stops. Its score is 0, so that with large scores of the others
it is never drawn."""


def require_program(program: Path) -> None:
    """Refuses what cannot be started.

    Raises:
        ConfigurationError: it is no file that may be executed.
    """
    if not program.is_file() or not os.access(program, os.X_OK):
        raise ConfigurationError(
            f"the C program must be a file that can be started, such as llama2.c's run; {program} "
            "is none"
        )


class CProgram:
    """The program and its files, in a folder of its own.

    Raises:
        ConfigurationError: it is no file that may be executed.
    """

    def __init__(self, program: Path, folder: Path, configuration: ModelConfiguration, model: Any):
        require_program(program)
        self._program, self._folder = program.resolve(), folder
        write_model(folder / "model.bin", configuration, model)
        write_tokenizer(folder / "tokenizer.bin", configuration.vocabulary)

    def rate(self, tokens: int, temperature: float, threads: int) -> float:
        """Tokens per second of one run; the program counts in milliseconds.

        Raises:
            ClearformerError: it could not be started, failed, or did not write all tokens.
        """
        command = [str(self._program), "model.bin", "-n", str(tokens), "-s", "7"]
        command += ["-t", str(temperature), "-p", "0"]  # 0: drawn from all tokens
        try:
            done = subprocess.run(
                command,
                cwd=self._folder,
                env={**os.environ, "OMP_NUM_THREADS": str(threads)},
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise ClearformerError(f"the C program could not be started: {error}") from None
        told = re.search(rb"achieved tok/s: ([0-9.]+)", done.stderr)
        written = len(done.stdout.strip())
        if done.returncode or not told or not float(told[1]) or written != tokens:
            raise ClearformerError(
                f"expected {tokens} tokens and their rate from the C program; got {written}, exit "
                f"status {done.returncode}"
            )
        return float(told[1])


def write_model(path: Path, configuration: ModelConfiguration, model: Any) -> None:
    """Seven sizes, then every weight as a float32, a row for each output."""
    c = configuration.completed
    blocks, heads = model.blocks, (c.heads, c.key_value_heads)
    sizes = (c.embed, c.hidden, c.layers, *heads, -c.vocabulary, c.context)  # -: not tied
    turns = rotary_turns(c.context, c.embed // c.heads)
    with path.open("wb") as file:
        file.write(struct.pack("7i", *sizes))
        model.embedding.table.tofile(file)
        _write(file, [block.norm_1.gain for block in blocks])
        for name in ("query", "key", "value", "output"):
            _write(file, [getattr(block.attention, name).weight.T for block in blocks])
        _write(file, [block.norm_2.gain for block in blocks])
        for name in ("gate", "project", "expand"):
            _write(file, [getattr(block.feed_forward, name).weight.T for block in blocks])
        _write(file, [model.norm.gain, turns.real, turns.imag, model.output.linear.weight.T])


def write_tokenizer(path: Path, vocabulary: int) -> None:
    """Every token is one letter, so that the tokens can be counted."""
    with path.open("wb") as file:
        file.write(struct.pack("i", 1))  # the longest token
        file.write(vocabulary * (struct.pack("fi", 0.0, 1) + b"a"))


def _write(file: Any, arrays: list[Any]) -> None:
    for array in arrays:
        np.ascontiguousarray(array, np.float32).tofile(file)
