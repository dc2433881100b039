"""Counts the arrays that NumPy allocates, and their bytes; on the thread that asks for it.

NumPy lets a program bring its own allocator (NEP 49, `PyDataMem_SetHandler`). This one counts and
hands on to the C library. It must outlive every array that it has made, so that it stays for ever.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

SET_HANDLER = 304
"""Its place in NumPy's table of functions, part of its binary interface since 1.22."""

_libc = ctypes.CDLL(None)
for _name, _arguments in {
    "malloc": [ctypes.c_size_t],
    "calloc": [ctypes.c_size_t, ctypes.c_size_t],
    "realloc": [ctypes.c_void_p, ctypes.c_size_t],
    "free": [ctypes.c_void_p],
}.items():
    getattr(_libc, _name).argtypes = _arguments
    getattr(_libc, _name).restype = None if _name == "free" else ctypes.c_void_p

_size, _pointer = ctypes.c_size_t, ctypes.c_void_p
_Malloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size)
_Calloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size, _size)
_Realloc = ctypes.CFUNCTYPE(_pointer, _pointer, _pointer, _size)
_Free = ctypes.CFUNCTYPE(None, _pointer, _pointer, _size)


class _Handler(ctypes.Structure):
    """PyDataMem_Handler, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _Free),
    )


@dataclass
class Allocated:
    """What was asked for."""

    arrays: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        """One more array."""
        self.arrays += 1
        self.bytes += size


_now = Allocated()


def _malloc(_: Any, size: int) -> Any:
    _now.add(size)
    return _libc.malloc(size)


def _calloc(_: Any, many: int, size: int) -> Any:
    _now.add(many * size)
    return _libc.calloc(many, size)


def _realloc(_: Any, before: Any, size: int) -> Any:
    _now.add(size)
    return _libc.realloc(before, size)


def _free(_: Any, block: Any, size: int) -> None:
    _libc.free(block)


_handler = _Handler(
    b"counting", 1, None, _Malloc(_malloc), _Calloc(_calloc), _Realloc(_realloc), _Free(_free)
)


def _set_handler() -> Any:
    """NumPy's function; NULL, here None, means its own allocator."""
    numpy = import_module("numpy._core._multiarray_umath")  # where the table of functions is
    python = ctypes.pythonapi
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table = python.PyCapsule_GetPointer(numpy._ARRAY_API, None)
    place = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[SET_HANDLER]
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(place)


@contextmanager
def counting() -> Iterator[Allocated]:
    """Inside, what this thread allocates is counted.

    Raises:
        ValueError: it counts already.
    """
    global _now  # noqa: PLW0603  # one allocator, one count at a time
    python = ctypes.pythonapi
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = python.PyCapsule_New(ctypes.addressof(_handler), b"mem_handler", None)
    set_handler = _set_handler()
    before = set_handler(capsule)
    found = _now = Allocated()
    try:
        yield found
    finally:
        set_handler(before)
        _now = Allocated()
