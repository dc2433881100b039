"""Layers that bring each position's vector to a common size."""

from dataclasses import dataclass

from clearformer import ops
from clearformer.models.part import Part
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class LayerNorm(Part):
    """Mean 0 and variance 1 along the last axis, then gain and bias (Ba et al., 2016)."""

    gain: Float[Tensor, " embed"]
    bias: Float[Tensor, " embed"]

    def __call__(self, x: Float[Tensor, "*lead embed"]) -> Float[Tensor, "*lead embed"]:
        """Normalises each position by itself."""
        return ops.layer_norm(x, self.gain, self.bias)


@dataclass(frozen=True)
class RMSNorm(Part):
    """Root mean square 1 along the last axis, then gain (Zhang and Sennrich, 2019)."""

    gain: Float[Tensor, " embed"]

    def __call__(self, x: Float[Tensor, "*lead embed"]) -> Float[Tensor, "*lead embed"]:
        """Normalises each position by itself."""
        return ops.rms_norm(x, self.gain)


@dataclass(frozen=True)
class UnitRMSNorm(Part):
    """Root mean square 1 and nothing to learn: used on queries and keys (Henry et al., 2020)."""

    def __call__(self, x: Float[Tensor, "*lead width"]) -> Float[Tensor, "*lead width"]:
        """Normalises each position, and each head, by itself."""
        return ops.rms_norm(x)
