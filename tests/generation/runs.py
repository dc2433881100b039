"""Small runs that never were trained: random weights say more than a minute of training."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.models.configuration import ModelConfiguration
from clearformer.runs.run import Run
from clearformer.text import build_tokenizer
from models.decoders import random_decoder

TEXTS = {
    "characters": "the quick brown fox jumps over the lazy dog\n",
    "words": "I like small models , and small models like me .\n",
    "bytepair": "吾輩は猫である。名前はまだ無い。😀👩‍💻 the cat has no name\n" * 4,
}


def random_run(kind: str = "characters", *, vocabulary: int | None = None, **dials: Any) -> Run:
    """A run with a tokenizer of `kind`, and a model of 2 layers that sees 8 tokens."""
    tokenizer = build_tokenizer(kind, TEXTS[kind], vocabulary)
    sizes = {"layers": 2, "heads": 2, "embed": 8, "context": 8, **dials}
    configuration = ModelConfiguration(tokenizer.vocabulary_size, **sizes)
    model = random_decoder(configuration, np.float32)
    start = int(tokenizer.encode("\n")[0])
    return Run(model, tokenizer, configuration, Path("nowhere"), 0, start)


def main() -> None:
    """What a second process prints: a text for each tokenizer."""
    texts = {
        kind: random_run(kind, context=200).generate("", 40, seed=11, temperature=1.0)
        for kind in TEXTS
    }
    print(json.dumps(texts))


if __name__ == "__main__":
    main()
