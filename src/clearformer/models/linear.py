"""A linear layer, and the layer that does nothing."""

from dataclasses import dataclass
from typing import Any

from clearformer import ops
from clearformer.models.part import Part
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class Linear(Part):
    """X W + b: every output is a weighted sum of the inputs."""

    weight: Float[Tensor, "input output"]
    bias: Float[Tensor, " output"] | None = None

    def __call__(self, x: Float[Tensor, "*lead input"]) -> Float[Tensor, "*lead output"]:
        """Maps the last axis from `input` to `output` numbers."""
        return ops.linear(x, self.weight, self.bias)


def pair(
    first: Linear, second: Linear, x: Float[Tensor, "*lead input"]
) -> Float[Tensor, "*lead both_outputs"]:
    """What two layers make of the same x, side by side."""
    return ops.linear_pair(x, first.weight, second.weight, first.bias, second.bias)


@dataclass(frozen=True)
class Unchanged(Part):
    """Stands where a recipe has no layer: no norm, no projection, no turning."""

    def __call__(self, x: Tensor, *_: Any) -> Tensor:
        """Gives x back."""
        return x
