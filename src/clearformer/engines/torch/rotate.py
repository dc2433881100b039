"""Turning pairs of numbers by an angle: rotary positions."""

import numpy as np
import torch
from torch import Tensor

from clearformer.engines.torch.constants import constant
from clearformer.engines.torch.tracing import traced


def rotate(x: Tensor, turn: np.ndarray) -> Tensor:
    """Reads each pair (x₂ᵢ, x₂ᵢ₊₁) as one complex number and multiplies it by `turn`.

    Types of 16 bits are turned in float32.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    pairs = wide.unflatten(-1, (x.shape[-1] // 2, 2))
    turned = _written_out(pairs, turn) if traced() else _as_complex(pairs, turn)
    return turned.flatten(-2).to(x.dtype)


def _as_complex(pairs: Tensor, turn: np.ndarray) -> Tensor:
    """One pass forwards and one backwards: the quickest where each operation runs by itself."""
    steps = (*pairs.stride()[:-1], pairs.storage_offset())
    if pairs.stride(-1) != 1 or any(step % 2 for step in steps):  # not a place for such numbers
        pairs = pairs.clone(memory_format=torch.contiguous_format)
    return torch.view_as_real(torch.view_as_complex(pairs) * constant(turn, pairs))


def _written_out(pairs: Tensor, turn: np.ndarray) -> Tensor:
    """The same in real numbers: PyTorch's compiler makes no code for complex ones."""
    real, imaginary = pairs.unbind(-1)
    cosine, sine = constant(turn.real, pairs), constant(turn.imag, pairs)
    return torch.stack((real * cosine - imaginary * sine, real * sine + imaginary * cosine), -1)
