"""The machines that a plan is made for: published peaks, or this machine, measured."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.training.memory import machine_bytes

SIDE = 1536  # a product of this side, 7.2 GFLOP, keeps every core of a small machine busy
REPEATS = 5


@dataclass(frozen=True)
class Accelerator:
    """One GPU, or a machine that is used as one."""

    name: str
    bfloat16: float
    """Peak FLOP/s of products of bfloat16 matrices, added up in float32, none of them sparse."""
    float32: float
    """Peak FLOP/s in float32."""
    memory: int
    """Bytes. A published GB counts as 10⁹ here; where it meant 2³⁰, there is a little more. 0 where
    a machine does not tell."""
    bandwidth: float
    """Bytes per second between its memory and its processors."""
    link: float
    """Bytes per second to its neighbours in one machine, each way; 0 if there are none."""


@dataclass(frozen=True)
class Cluster:
    """GPUs of one kind, in one machine or several."""

    accelerator: Accelerator
    gpus: int = 1
    gpus_per_machine: int = 8
    network: float = 12.5e9
    """Bytes per second between machines, each way, for all GPUs of one: 12.5e9 is 100 Gbit/s."""

    def __post_init__(self) -> None:
        if min(self.gpus, self.gpus_per_machine) < 1 or not self.network > 0:
            raise ConfigurationError(
                "gpus, gpus_per_machine and network must be above 0; got "
                f"{self.gpus}, {self.gpus_per_machine}, {self.network:g}"
            )
        if self.gpus > 1 and not self.accelerator.link:
            raise ConfigurationError(
                f"{self.accelerator.name} has no link to others; got gpus={self.gpus}; plan it "
                "with one"
            )

    @property
    def machines(self) -> int:
        """How many there are."""
        return -(-self.gpus // self.gpus_per_machine)

    @property
    def slowest_link(self) -> float:
        """Bytes per second on the narrowest stretch of a ring through all GPUs."""
        link = self.accelerator.link
        return min(link, self.network) if self.machines > 1 else link


# NVLink and PCIe are published as the sum of both ways; `link` is one way, so half of it.
ACCELERATORS = {
    # NVIDIA L4 data sheet, 2023: 242 TFLOP/s "with sparsity", so half; PCIe 4.0 × 16, 64 GB/s
    "L4": Accelerator("L4", 121e12, 30.3e12, 24 * 10**9, 300e9, 32e9),
    # NVIDIA Ada GPU Architecture white paper, 2022, appendix A; PCIe 4.0 × 16, 64 GB/s
    "RTX 4090": Accelerator("RTX 4090", 165.2e12, 82.6e12, 24 * 10**9, 1_008e9, 32e9),
    # NVIDIA A100 Tensor Core GPU data sheet, 2021, SXM 80 GB; NVLink 600 GB/s
    "A100": Accelerator("A100", 312e12, 19.5e12, 80 * 10**9, 2_039e9, 300e9),
    # NVIDIA H100 Tensor Core GPU data sheet, 2023, SXM: 1,979 "with sparsity"; NVLink 900 GB/s
    "H100": Accelerator("H100", 989e12, 67e12, 80 * 10**9, 3_350e9, 450e9),
    # NVIDIA H200 Tensor Core GPU data sheet, 2024, SXM: as the H100, with other memory
    "H200": Accelerator("H200", 989e12, 67e12, 141 * 10**9, 4_800e9, 450e9),
}
"""Published peaks, which no program reaches: a plan multiplies them by a utilisation."""


def this_machine() -> Accelerator:
    """This machine as it is now, from the quickest of a few products and of a few copies in NumPy.

    It takes about a second. NumPy has no bfloat16, so both speeds are that of float32.
    """
    left = np.full((SIDE, SIDE), 0.5, np.float32)
    out = np.empty_like(left)
    speed = 2 * SIDE**3 / _quickest(lambda: np.matmul(left, left, out=out))
    source = np.ones(2**24, np.float32)  # 64 MiB, larger than the caches of most
    target = np.empty_like(source)
    moved = 2 * source.nbytes / _quickest(lambda: np.copyto(target, source))
    return Accelerator("this machine", speed, speed, machine_bytes() or 0, moved, 0.0)


def _quickest(work: Callable[[], object]) -> float:
    """Seconds of the quickest of a few runs: what else the machine did disturbed it least."""
    taken = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)
