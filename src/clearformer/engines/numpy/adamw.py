"""One step of AdamW, in place on flat buffers."""

from math import sqrt

import numpy as np


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
    parameters *= 1 - learning_rate * decay
    scratch = gradients * (1 - beta_1)
    first *= beta_1
    first += scratch
    np.multiply(gradients, gradients, out=scratch)
    scratch *= 1 - beta_2
    second *= beta_2
    second += scratch
    np.sqrt(second, out=scratch)
    # √v̂ + ε = (√v + ε c) / c with c = √(1 - β₂ᵗ), which saves one pass over the numbers
    correction = sqrt(1 - beta_2**step)
    scratch += epsilon * correction
    np.divide(first, scratch, out=scratch)
    scratch *= learning_rate * correction / (1 - beta_1**step)
    parameters -= scratch
