"""What lies in the memory of each GPU at the height of a step, in exact integers."""

from dataclasses import dataclass
from typing import Literal

from clearformer.models.activations import NARROW, WIDE
from clearformer.models.kind import Configuration

Parallel = Literal["replicate", "shard"]

USABLE = 0.9
"""Share of a GPU's memory that a plan fills; PyTorch, CUDA and scattered free blocks need some."""


@dataclass(frozen=True)
class GpuMemory:
    """Bytes on each GPU, by what they are for."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    exchange: int
    """What is on its way: gradients to be added up, or weights that other GPUs lend."""

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.exchange


@dataclass(frozen=True)
class Parameters:
    """How many numbers a model learns, by where they are."""

    whole: int
    in_matrices: int
    in_layer: int
    """In one layer."""
    outside: int
    """Outside the layers: embedding, last norm, output."""

    @classmethod
    def of(cls, model: Configuration) -> "Parameters":
        """Those of a model."""
        whole = model.parameter_count
        return cls(
            whole=whole,
            in_matrices=model.in_matrices,
            in_layer=model.in_layer,
            # the first of recurrent layers is smaller where vectors of tokens are narrower
            outside=max(whole - model.layers * model.in_layer, 0),
        )

    def bytes(self, precision: str) -> int:
        """Of a copy for products: matrices in `precision`, the rest in float32."""
        return NARROW[precision] * self.in_matrices + WIDE * (self.whole - self.in_matrices)


def gpu_memory(
    model: Configuration,
    rows: int,
    precision: str,
    *,
    gpus: int = 1,
    parallel: Parallel = "replicate",
    accumulates: bool = False,
    on_gpu: bool = True,
) -> GpuMemory:
    """For `rows` sequences of full length at once on each GPU.

    A parameter takes 16 bytes: itself, its gradient and the two averages of AdamW, in float32.
    Rajbhandari et al. ("ZeRO", 2020, section 3.1) also count 16: 12 in float32, 2 for a narrow copy
    and 2 for a narrow gradient. Ours, replicated in bfloat16, has both of these as well, because
    it adds gradients up in float32. Sharded (their P_os+g+p) each GPU holds its part of the 16.

    Activations are what the configuration says that they keep.
    """
    parameters = Parameters.of(model)
    kept = model.kept_on_torch(rows, precision, on_gpu)
    state = WIDE * parameters.whole
    if parallel == "shard" and gpus > 1:
        part = -(-state // gpus)
        exchange = _lent(parameters, precision, model.layers)
        exchange += state if accumulates else 0  # FSDP2 adds whole gradients up between exchanges
        return GpuMemory(part, part, 2 * part, kept, exchange)
    copy = NARROW[precision] * parameters.in_matrices if precision != "float32" else 0
    waits = copy if accumulates and gpus > 1 else 0  # narrow gradients, for the last part
    return GpuMemory(
        weights=state + copy,
        gradients=state + waits,
        optimizer=2 * state,
        # narrow gradients grow while activations are given back: only the larger counts
        activations=max(kept, copy),
        exchange=parameters.bytes(precision) if gpus > 1 else 0,  # DDP's buckets
    )


def _lent(parameters: Parameters, precision: str, layers: int) -> int:
    """What is outside the layers, a layer and the next; and gradients of as much, as they are sent.

    (Zhao et al., "PyTorch FSDP", 2023, section 4.2: one layer is gathered while another computes.)
    """
    in_use = parameters.outside + min(layers, 2) * parameters.in_layer
    sent = max(parameters.outside, parameters.in_layer)
    return NARROW[precision] * in_use + (NARROW[precision] + WIDE) * sent
