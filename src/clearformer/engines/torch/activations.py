"""The bends between two linear layers."""

from typing import Any

from torch import Tensor, addcmul
from torch.autograd import Function
from torch.nn import functional

from clearformer.engines.torch.constants import constant, number
from clearformer.engines.torch.linear import NARROW
from clearformer.engines.torch.tracing import traced


def squared_relu(x: Tensor) -> Tensor:
    """max(x, 0)²."""
    squared: Tensor = x.relu().square() if traced() else _SquaredReLU.apply(x)
    return squared


class _SquaredReLU(Function):  # type: ignore[misc]  # PyTorch's types are not read
    """With its gradient, 2 g max(x, 0), in one pass over the numbers.

    PyTorch derives four from `x.relu().square()`; measured on 4,096 × 512 with two passes here,
    forwards and backwards then took twice as long.
    """

    @staticmethod
    def forward(context: Any, x: Tensor) -> Tensor:
        positive = x.relu()
        context.save_for_backward(positive)
        return positive * positive

    @staticmethod
    def backward(context: Any, grad: Tensor) -> Tensor:
        (positive,) = context.saved_tensors
        return addcmul(number(0.0, grad), grad, positive, value=2)


def gelu(x: Tensor) -> Tensor:
    """x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))."""
    return functional.gelu(x, approximate="tanh")


def silu(x: Tensor) -> Tensor:
    """x / (1 + exp(-x))."""
    return functional.silu(x)


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent; of 16 bits in float32, whose slope 1 - y² a rounded y would spoil."""
    return x.float().tanh().to(x.dtype) if x.dtype in NARROW else x.tanh()


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)); of 16 bits in float32, as tanh."""
    return x.float().sigmoid().to(x.dtype) if x.dtype in NARROW else x.sigmoid()


def dropout(x: Tensor, keep: Any) -> Tensor:
    """x · keep, where `keep` holds 0 or 1/(1 - rate)."""
    return x * constant(keep, x)
