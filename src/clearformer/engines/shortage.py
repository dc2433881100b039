"""How Python and PyTorch say that the system has no more memory, or no more threads, to give."""

MEMORY = ("out of memory", "allocate memory", "not enough memory", "ALLOC_FAILED")
"""Words of PyTorch, on a processor and on GPUs, where Python itself has a MemoryError."""

THREADS = ("start new thread", "Resource temporarily unavailable")
"""Words of Python and of the C++ library."""


def shortage_in(fault: BaseException) -> str | None:
    """What there was too little of: "memory" or "threads"; None for any other fault."""
    if isinstance(fault, MemoryError):
        return "memory"
    if not isinstance(fault, RuntimeError):
        return None
    for name, words in (("memory", MEMORY), ("threads", THREADS)):
        if any(word in str(fault) for word in words):
            return name
    return None
