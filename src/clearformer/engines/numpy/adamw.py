"""One step of AdamW, in place on flat buffers."""

from math import sqrt

import numpy as np

BLOCK = 131_072
"""Numbers that are moved at once: of five arrays, so many stay near the processor. Of 800,000 in
one go, the way to memory and back takes half as long again; fewer are more calls, at each of which
a thread may have to wait for another."""


def adamw(
    parameters: np.ndarray,
    gradients: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    *,
    step: int,
    learning_rate: float,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.0,
) -> None:
    """m ← β₁m + (1-β₁)g,  v ← β₂v + (1-β₂)g²,  w ← w - η·decay·w - η m̂ / (√v̂ + ε).

    m̂ = m / (1 - β₁ᵗ) and v̂ = v / (1 - β₂ᵗ) undo the start from zero; t is `step`, from 1.
    (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2.)
    """
    # √v̂ + ε = (√v + ε c) / c with c = √(1 - β₂ᵗ), which saves one pass over the numbers
    correction = sqrt(1 - beta_2**step)
    rate = learning_rate * correction / (1 - beta_1**step)
    arrays = parameters, gradients, first, second
    for start in range(0, len(parameters), BLOCK):
        w, g, m, v = (array[start : start + BLOCK] for array in arrays)
        w *= 1 - learning_rate * decay
        scratch = g * (1 - beta_1)
        m *= beta_1
        m += scratch
        np.multiply(g, g, out=scratch)
        scratch *= 1 - beta_2
        v *= beta_2
        v += scratch
        np.sqrt(v, out=scratch)
        scratch += epsilon * correction
        np.divide(m, scratch, out=scratch)
        scratch *= rate
        w -= scratch
