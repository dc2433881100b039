"""What training will cost, computed from sizes alone: work, memory, traffic, time, disk."""

from dataclasses import dataclass, replace
from typing import Literal

from clearformer.errors import ConfigurationError
from clearformer.models.activations import NARROW, WIDE
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.products import step_flops
from clearformer.text.ids import id_type
from clearformer.training.cluster import Cluster
from clearformer.training.gpu_memory import (
    USABLE,
    GpuMemory,
    Parallel,
    Parameters,
    gpu_memory,
)

HOUR = 3600
DAY = 24 * HOUR

TOKENS_PER_PARAMETER = 20
"""What makes most of a budget of work (Hoffmann et al., "Training Compute-Optimal Large Language
Models", 2022, table 3: 20 to 22)."""

UTILISATION = 0.3
"""Share of the peak that the products reach. Published for whole steps: 0.21 for GPT-3, 0.33 for
Gopher, 0.46 for PaLM (Chowdhery et al., "PaLM", 2022, table 3). Ours on a GPU is not known yet."""

UPDATE = 7 * WIDE
"""Bytes that AdamW moves per parameter: it reads the parameter, its gradient and two averages, and
writes all but the gradient."""


@dataclass(frozen=True)
class Cost:
    """One model trained on one cluster. Every figure is computed, none is measured."""

    model: ModelConfiguration
    cluster: Cluster
    batch: int
    """Sequences that each GPU takes in a step."""
    parallel: Parallel = "replicate"
    precision: Literal["float32", "bfloat16"] = "bfloat16"
    accumulation: int = 1
    """Parts in which a GPU computes its batch, one after the other."""
    utilisation: float = UTILISATION
    """Share of the peak FLOP/s that forward and backward pass reach."""

    def __post_init__(self) -> None:
        if not 1 <= self.accumulation <= self.batch:
            raise ConfigurationError(
                "accumulation must be at least 1 and at most batch; got "
                f"accumulation={self.accumulation}, batch={self.batch}"
            )
        if not 0 < self.utilisation <= 1:
            raise ConfigurationError(
                f"utilisation must be a share, above 0 and at most 1; got {self.utilisation}"
            )
        if self.parallel not in ("replicate", "shard") or self.precision not in NARROW:
            raise ConfigurationError(
                f"parallel must be replicate or shard and precision {' or '.join(NARROW)}; got "
                f"{self.parallel!r} and {self.precision!r}"
            )

    @property
    def flops_per_token(self) -> int:
        """Forwards and backwards (see `products.step_flops`)."""
        return step_flops(self.model, 1) // self.model.context

    @property
    def tokens_per_step(self) -> int:
        """On all GPUs."""
        return self.cluster.gpus * self.batch * self.model.context

    @property
    def flops_per_step(self) -> int:
        """On all GPUs."""
        return self.flops_per_token * self.tokens_per_step

    @property
    def memory(self) -> GpuMemory:
        """On each GPU."""
        return self._memory(-(-self.batch // self.accumulation))

    @property
    def fits(self) -> bool:
        """Whether each GPU has that memory, with a tenth of it left free."""
        return self.memory.total <= USABLE * self.cluster.accelerator.memory

    def largest_batch(self) -> int:
        """The most sequences that fit on a GPU at once; 0 if not even one does."""
        fits, fails = 0, 1
        room = USABLE * self.cluster.accelerator.memory
        while self._memory(fails).total <= room:
            fits, fails = fails, 2 * fails
        while fails - fits > 1:
            middle = (fits + fails) // 2
            fits, fails = (middle, fails) if self._memory(middle).total <= room else (fits, middle)
        return fits

    def in_parts(self) -> "Cost":
        """The same, each batch in the fewest equal parts that fit; in single rows if none do."""
        for parts in range(1, self.batch + 1):
            tried = replace(self, accumulation=parts)
            if self.batch % parts == 0 and tried.fits:
                return tried
        return replace(self, accumulation=self.batch)

    @property
    def traffic(self) -> int:
        """Bytes that each GPU sends in a step, and as many that it receives, in rings of n GPUs.

        Replicated: gradients are added up, 2 (n - 1)/n of their bytes. Sharded: for each part of a
        batch the weights are gathered forwards and again backwards, and the gradients of the step
        are added up and scattered, in float32: (n - 1)/n of the bytes each time. (Rajbhandari et
        al., "ZeRO", 2020, section 7: 2 Ψ and 3 Ψ.)
        """
        n, parameters = self.cluster.gpus, Parameters.of(self.model)
        if self.parallel == "replicate":
            return 2 * (n - 1) * parameters.bytes(self.precision) // n
        gathered = 2 * NARROW[self.precision] * self.accumulation
        return (n - 1) * (gathered + WIDE) * parameters.whole // n

    @property
    def compute_seconds(self) -> float:
        """Of one step's products, by peak and utilisation, and of its update, by bandwidth."""
        chip = self.cluster.accelerator
        peak = chip.bfloat16 if self.precision == "bfloat16" else chip.float32
        products = self.flops_per_step / self.cluster.gpus / (peak * self.utilisation)
        return products + UPDATE * self.model.parameter_count / self._shards / chip.bandwidth

    @property
    def traffic_seconds(self) -> float:
        """Of one step's traffic, if the links are as quick as published."""
        return self.traffic / self.cluster.slowest_link if self.traffic else 0.0

    @property
    def seconds(self) -> float:
        """Of a step that sends nothing while it computes: the slow end of what to expect."""
        return self.compute_seconds + self.traffic_seconds

    @property
    def quickest_seconds(self) -> float:
        """Of a step that sends everything while it computes."""
        return max(self.compute_seconds, self.traffic_seconds)

    @property
    def tokens_per_second(self) -> float:
        """On all GPUs, at the slow end."""
        return self.tokens_per_step / self.seconds

    def days(self, tokens: int) -> float:
        """For so many tokens, at the slow end, without evaluations, saves and mishaps."""
        return tokens / self.tokens_per_second / DAY

    def gpu_hours(self, tokens: int) -> float:
        """The same, in hours of one GPU."""
        return self.cluster.gpus * tokens / self.tokens_per_second / HOUR

    @property
    def _shards(self) -> int:
        return self.cluster.gpus if self.parallel == "shard" else 1

    def _memory(self, rows: int) -> GpuMemory:
        return gpu_memory(
            self.model,
            rows,
            self.precision,
            gpus=self.cluster.gpus,
            parallel=self.parallel,
            accumulates=self.accumulation > 1,
        )


def advised_tokens(model: ModelConfiguration) -> int:
    """About 20 per parameter: with fewer, a smaller model would have learned more from the work."""
    return TOKENS_PER_PARAMETER * model.parameter_count


def data_bytes(tokens: int, vocabulary: int) -> int:
    """A prepared corpus on disk: ids of the smallest type that holds the vocabulary."""
    return tokens * id_type(vocabulary).itemsize


def save_bytes(model: ModelConfiguration) -> int:
    """One save: the parameters and two averages, in float32.

    The process that writes it holds as much in the memory of its machine, and so does every
    process while a run goes on from it.
    """
    return 3 * WIDE * model.parameter_count
