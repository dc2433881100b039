"""Normalisation of each position's vector."""

from typing import Any

from torch import Tensor, add, addcmul
from torch.autograd import Function
from torch.nn import functional

from clearformer.engines.torch.constants import constant, number, of_type
from clearformer.engines.torch.linear import NARROW
from clearformer.engines.torch.tracing import traced


def layer_norm(x: Tensor, gain: Any, bias: Any, epsilon: float = 1e-5) -> Tensor:
    """(x - mean) / √(variance + ε) · gain + bias along the last axis, in the type of x.

    The mean is taken away before PyTorch does: its kernel loses a small variance beside a large
    mean (of 1e6 in float32, nothing is left of one of 1e-2). No shift changes the result, so none
    has a gradient. Types of 16 bits are computed in float32 on a processor, where PyTorch would add
    up the gradients of gain and bias in 16 bits (over 65,536 rows half of them is then lost).
    """
    dtype = x.dtype
    if dtype in NARROW and x.device.type == "cpu":
        x = x.float()
    gain, bias = (constant(row, x).to(x.dtype) for row in (gain, bias))
    if x.dtype not in NARROW:
        x = x - x.mean(-1, keepdim=True).detach()
    return functional.layer_norm(x, x.shape[-1:], gain, bias, epsilon).to(dtype)


def rms_norm(x: Tensor, gain: Any = None, epsilon: float = 1e-6) -> Tensor:
    """x / √(mean(x²) + ε) · gain along the last axis, in the type of x."""
    if gain is not None:
        gain = of_type(constant(gain, x), x.dtype)
    if x.device.type != "cpu" or x.dtype in NARROW or traced():
        return functional.rms_norm(x, x.shape[-1:], gain, epsilon)
    normal: Tensor = _RMSNorm.apply(x, gain, epsilon)
    return normal


class _RMSNorm(Function):  # type: ignore[misc]  # PyTorch's types are not read
    """For processors, where PyTorch has no fused kernel: half the passes over the numbers.

    Measured on 2,048 × 384, forwards and backwards took 2.0 times as long with `F.rms_norm`; where
    that is quick, on small arrays, calls count, and here are few. The gradient is derived in
    `engines.numpy.norms`.
    """

    @staticmethod
    def forward(context: Any, x: Tensor, gain: Tensor | None, epsilon: float) -> Tensor:
        inverse = inverse_root(x, epsilon)
        normal = x * inverse
        context.save_for_backward(normal, inverse, gain)
        return normal if gain is None else normal * gain

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, None]:
        normal, inverse, gain = context.saved_tensors
        overlap, to_gain = grad * normal, None
        if gain is not None:
            to_gain = overlap.reshape(-1, grad.shape[-1]).sum(0)
            overlap, grad = overlap.mul_(gain), grad * gain
        total = overlap.sum(-1, keepdim=True)
        to_x = addcmul(grad, normal, total, value=-1 / grad.shape[-1], out=overlap)
        return to_x.mul_(inverse), to_gain, None


def inverse_root(x: Tensor, epsilon: float) -> Tensor:
    """1 / √(mean(x²) + ε) along the last axis, which is kept; in few calls, not to be recorded."""
    squares = (x * x).sum(-1, keepdim=True)
    return add(number(epsilon, x), squares, alpha=1 / x.shape[-1]).rsqrt_()
