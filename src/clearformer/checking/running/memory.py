"""How much memory an answer may ask for while it runs, in a process of its own.

Only where the operating system counts it (Linux); elsewhere nothing is limited.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

DEFAULT = 2**30
"""Bytes beyond what the process has when it begins."""


@dataclass(frozen=True)
class Allowance:
    """A limit that holds while code of a learner runs, and not while its record is made."""

    total: int | None = None
    """Bytes of private memory that the whole process may have; None for no limit."""

    @classmethod
    def beyond_now(cls, extra: int) -> "Allowance":
        """So many bytes more than the process has now; no limit for 0, or where none can be."""
        used = _private_bytes()
        return cls(used + extra if extra and resource is not None and used is not None else None)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """In the block more memory than that is refused with an error."""
        if self.total is None:
            yield
            return
        before, hard = resource.getrlimit(resource.RLIMIT_DATA)
        total = self.total if hard == resource.RLIM_INFINITY else min(self.total, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (total, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


NO_LIMIT = Allowance()


def _private_bytes() -> int | None:
    """What the limit counts: private memory that can be written to."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("VmData:")]
    return kilobytes[0] * 1024 if kilobytes else None


def out_of_memory(error: BaseException) -> bool:
    """Whether the error says that memory was refused, also in PyTorch's words."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)[:2000]
    )
