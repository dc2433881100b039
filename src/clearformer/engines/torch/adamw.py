"""One step of AdamW, in place on flat buffers."""

import torch
from torch import Tensor
from torch.optim.adamw import adamw as fused_adamw


def adamw(
    parameters: Tensor,
    gradients: Tensor,
    first: Tensor,
    second: Tensor,
    *,
    step: int,
    learning_rate: float,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.0,
) -> None:
    """The step of the NumPy engine, by PyTorch's kernel that does all of it in one pass."""
    before = torch.full((), step - 1.0, dtype=torch.float32, device=parameters.device)
    with torch.no_grad():
        fused_adamw(
            [parameters],
            [gradients],
            [first],
            [second],
            [],  # the largest second moments, which AMSGrad keeps
            [before],
            fused=True,
            amsgrad=False,
            beta1=beta_1,
            beta2=beta_2,
            lr=learning_rate,
            weight_decay=decay,
            eps=epsilon,
            maximize=False,
        )
