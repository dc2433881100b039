"""Hearing the logits from which each token is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.generation import generate as generation
from clearformer.generation.sampling import Sampling

AS_LIKELY = Sampling(temperature=1.0)


def heard(
    monkeypatch: Any,
    model: Any,
    prompt: Sequence[int],
    tokens: int,
    sampling: Sampling = AS_LIKELY,
    *,
    context: int,
    seed: int = 5,
    cached: bool = True,
) -> tuple[list[int], np.ndarray]:
    """The tokens that follow the prompt, and the logits (tokens, vocab) before each."""
    logits = []
    usual = generation.draw

    def draw(scores: np.ndarray, *rest: Any) -> int:
        logits.append(scores.copy())
        return usual(scores, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(generation, "draw", draw)
        patch.delattr(generation._Cached, "written")  # else a kernel draws, and nobody hears it
        ids = list(
            generation.generate(
                model,
                prompt,
                tokens,
                context=context,
                sampling=sampling,
                rng=np.random.default_rng(seed),
                cached=cached,
            )
        )
    return ids, np.array(logits)
