"""Turning pairs of numbers by an angle: rotary positions."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, addcmul
from torch.autograd import Function

from clearformer.engines.torch.constants import constant, of_type
from clearformer.engines.torch.norms import inverse_root, rms_norm
from clearformer.engines.torch.tracing import traced


def rotate(x: Tensor, turn: np.ndarray) -> Tensor:
    """Reads each pair (x₂ᵢ, x₂ᵢ₊₁) as one complex number and multiplies it by `turn`.

    Types of 16 bits are turned in float32.
    """
    wide = x if x.dtype is torch.float64 else of_type(x, torch.float32)
    pairs = wide.unflatten(-1, (x.shape[-1] // 2, 2))
    turned = _written_out(pairs, turn) if traced() else _as_complex(pairs, turn)
    return of_type(turned.flatten(-2), x.dtype)


def rotate_unit(x: Tensor, turn: np.ndarray, epsilon: float = 1e-6) -> Tensor:
    """rotate(rms_norm(x), turn); on a processor types of 16 bits are rounded at the end only."""
    if x.device.type != "cpu" or x.stride(-1) != 1 or traced():
        return rotate(rms_norm(x, epsilon=epsilon), turn)
    wide = x if x.dtype is torch.float64 else of_type(x, torch.float32)
    return of_type(_RotateUnit.apply(wide, constant(turn, wide), epsilon), x.dtype)


class _RotateUnit(Function):  # type: ignore[misc]  # PyTorch's types are not read
    """For processors: both in place, and nothing saved but the result and the roots.

    The gradient is derived in `engines.numpy.rotate`.
    """

    @staticmethod
    def forward(context: Any, x: Tensor, turn: Tensor, epsilon: float) -> Tensor:
        inverse = inverse_root(x, epsilon)
        turned = x * inverse
        _pairs(turned).mul_(turn)
        context.save_for_backward(turned, inverse, turn)
        return turned

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        turned, inverse, turn = context.saved_tensors
        overlap = turned * grad  # in the order of x in memory
        total = overlap.sum(-1, keepdim=True)
        to_x = addcmul(grad, turned, total, value=-1 / grad.shape[-1], out=overlap).mul_(inverse)
        _pairs(to_x).mul_(turn.conj())
        return to_x, None, None


def _pairs(x: Tensor) -> Tensor:
    """Pairs of neighbours as complex numbers that share their memory."""
    return torch.view_as_complex(x.view(*x.shape[:-1], x.shape[-1] // 2, 2))


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
