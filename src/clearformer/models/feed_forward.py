"""The feed-forward layer: each position works by itself on what attention brought it."""

from collections.abc import Callable
from dataclasses import dataclass

from clearformer import ops
from clearformer.models.linear import Linear
from clearformer.models.part import Part
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class FeedForward(Part):
    """f(x W_1) W_2: widen, bend, narrow (Vaswani et al., 2017, equation 2)."""

    expand: Linear
    project: Linear
    activation: Callable[[Tensor], Tensor]

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], tap: Tap = silent
    ) -> Float[Tensor, "batch seq embed"]:
        """Maps each position through the hidden layer."""
        hidden = tap("hidden", self.expand(x))
        activated = tap("activated", self.activation(hidden))
        return tap("output", self.project(activated))


@dataclass(frozen=True)
class GatedFeedForward(Part):
    """(silu(x W) * x V) W_2, SwiGLU: one half decides how much of the other passes.

    (Shazeer, "GLU Variants Improve Transformer", 2020, equation 6.)
    """

    gate: Linear
    expand: Linear
    project: Linear

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], tap: Tap = silent
    ) -> Float[Tensor, "batch seq embed"]:
        """Maps each position through the gated hidden layer."""
        hidden = tap("hidden", self.expand(x))
        activated = tap("activated", ops.multiply(ops.silu(self.gate(x)), hidden))
        return tap("output", self.project(activated))
