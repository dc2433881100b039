"""A limit to how much memory an answer may ask for, in a process of its own.

Only where the operating system counts it (Linux); elsewhere nothing is limited.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

DEFAULT = 2 * 2**30
"""Bytes beyond what the process has when it begins."""


def limit_memory(allowed: int) -> bool:
    """From now on at most `allowed` more bytes; says whether that holds here."""
    used = _data_in_use()
    if resource is None or used is None:
        return False
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    total = used + allowed
    if hard != resource.RLIM_INFINITY:
        total = min(total, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (total, hard))
    return True


def _data_in_use() -> int | None:
    """What the limit counts: private memory that can be written to."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return None
    kilobytes = [int(line.split()[1]) for line in lines if line.startswith("VmData:")]
    return kilobytes[0] * 1024 if kilobytes else None


@contextmanager
def with_room() -> Iterator[None]:
    """Lifts the limit for the block, so that running out of memory can be reported."""
    if resource is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def out_of_memory(error: BaseException) -> bool:
    """Whether the error says that memory was refused, also in PyTorch's words."""
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "allocate memory" in str(error)[:2000]
    )
