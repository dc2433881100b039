"""Ways in and out: between NumPy's arrays and PyTorch's tensors."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.engines.torch.constants import crossed


def to_array(x: Any) -> np.ndarray:
    """The numbers of a tensor, without its history; float32 for types that are narrower."""
    x = x.detach().cpu()
    if x.dtype in (torch.bfloat16, torch.float16):
        x = x.float()
    array: np.ndarray = x.numpy()
    return array


def from_array(array: np.ndarray, like: Tensor) -> Tensor:
    """The array on the device and in the floating-point type of `like`.

    Whole numbers and truth values keep their type.
    """
    return crossed(array, like.dtype, like.device)


def empty(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """A tensor of the type and on the device of `like`, of whatever numbers were there."""
    return torch.empty(shape, dtype=like.dtype, device=like.device)
