"""The nearest matrices with orthonormal rows or columns, by products of matrices alone."""

import torch
from torch import Tensor

from clearformer.engines.polar import SMALLEST, STEPS, orthogonalised


def orthogonalise(matrices: Tensor, steps: int = STEPS) -> Tensor:
    """The steps of the NumPy engine."""
    if not matrices.numel():
        return matrices.detach().clone()
    with torch.no_grad():
        found: Tensor = orthogonalised(matrices, steps, _measured, _polynomial)
    return found


def _measured(gram: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """G and G² of X / (Σ σ⁸)^(1/8), and what X is multiplied by for that."""
    trace = gram.diagonal(0, -2, -1).sum(-1)[..., None, None]
    size = trace.clamp_(min=SMALLEST)
    gram /= size
    square = gram @ gram
    norm = torch.linalg.matrix_norm(square, keepdim=True)
    largest = norm.sqrt_().clamp_(min=1 / gram.shape[-1])
    gram /= largest
    square /= largest * largest
    return gram, square, (size * largest).rsqrt_()


def _polynomial(gram: Tensor, square: Tensor, a: float, b: float, c: float) -> Tensor:
    """AI + bG + cG², in the memory of G²."""
    square.mul_(c).add_(gram, alpha=b).diagonal(0, -2, -1).add_(a)
    return square
