"""Named arrays in a safetensors file: 8 bytes of length, a JSON header, then the numbers.

Written array by array, so that a save needs no second copy of the model in memory. Before
anything is read from a file, every size it claims is checked with exact integers against
the size it has.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np

from clearformer.errors import RunError
from clearformer.tensor import Shaped
from clearformer.text.ordinary_file import open_ordinary
from clearformer.training import strict_json
from clearformer.training.durable import Piece
from clearformer.training.pickles import begins_as_pickle, refusal

LARGEST_HEADER = 100_000_000
"""Bytes, the limit of the format itself."""

MOST_TENSORS = 100_000

MOST_AXES = 32
"""What every NumPy can hold."""

DTYPES = {
    "U64": "uint64",
    "I64": "int64",
    "F64": "float64",
    "C64": "complex64",
    "F32": "float32",
    "U32": "uint32",
    "I32": "int32",
    "F16": "float16",
    "U16": "uint16",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}
"""The format's names, widest first: in this order the arrays lie in a file, all aligned."""

CODES = {name: code for code, name in DTYPES.items()}

Named = Mapping[str, Shaped[np.ndarray, "..."]]


def encode(arrays: Named, source: str) -> tuple[int, Iterator[Piece]]:
    """Returns the size in bytes of the file that will hold `arrays`, and its pieces in order.

    Raises:
        RunError: an array of a type that the format cannot hold, or a name it reserves.
    """
    order = list(CODES)
    for name, array in arrays.items():
        if array.dtype.name not in CODES:
            raise RunError(f"cannot write {source}: {name} has dtype {array.dtype}, no plain one")
        if name == "__metadata__":
            raise RunError(f"cannot write {source}: the name __metadata__ is taken by the format")
    names = sorted(arrays, key=lambda name: (order.index(arrays[name].dtype.name), name))
    header = _header({name: arrays[name] for name in names})
    size = len(header) + sum(array.nbytes for array in arrays.values())
    return size, _pieces(header, [arrays[name] for name in names])


def read(path: Path) -> dict[str, Shaped[np.ndarray, "..."]]:
    """Returns the arrays of a file as writable copies; nothing stays mapped.

    Raises:
        RunError: the file contradicts itself, or holds a type that NumPy has not.
        OSError: the file cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    with open_ordinary(path) as file:
        check_header(file, str(path))
    try:
        with safe_open(str(path), framework="np") as tensors:
            return {name: np.array(tensors.get_tensor(name)) for name in tensors.keys()}  # noqa: SIM118
    except (SafetensorError, ValueError, TypeError, OverflowError) as error:
        raise RunError(f"{path} is damaged: {error}") from error


def check_header(file: BinaryIO, source: str) -> None:
    """Checks all that a safetensors file claims about itself against its size in bytes.

    Raises:
        RunError: naming the first claim that cannot be true.
    """
    size = os.fstat(file.fileno()).st_size
    first = file.read(8)
    length = int.from_bytes(first, "little")
    if length > min(LARGEST_HEADER, size - 8):
        if begins_as_pickle(first):
            raise RunError(refusal(Path(source)))
        raise RunError(f"{source} is damaged: a header of {length:,} bytes in a file of {size:,}")
    header = strict_json.decode(file.read(length), f"the header of {source}")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(x, str) for x in metadata.values()):
        raise RunError(f"{source} is damaged: its metadata is not text")
    if len(header) > MOST_TENSORS:
        raise RunError(f"{source} has {len(header):,} tensors; at most {MOST_TENSORS:,} are read")
    ranges = sorted(_byte_range(name, entry, source) for name, entry in header.items())
    position = 0
    for begin, end, name in ranges:
        if begin != position:
            raise RunError(f"{source} is damaged: {name!a} starts at {begin:,}, not {position:,}")
        position = end
    held = size - 8 - length
    if position != held:
        raise RunError(f"{source} is damaged: tensors take {position:,} bytes, it has {held:,}")


def _header(arrays: Named) -> bytes:
    entries: dict[str, object] = {}
    position = 0
    for name, array in arrays.items():
        entries[name] = {
            "dtype": CODES[array.dtype.name],
            "shape": array.shape,
            "data_offsets": (position, position + array.nbytes),
        }
        position += array.nbytes
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _pieces(header: bytes, arrays: list[Shaped[np.ndarray, "..."]]) -> Iterator[Piece]:
    yield header
    for array in arrays:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        yield np.ascontiguousarray(little).reshape(-1).view(np.uint8).data


def _byte_range(name: str, entry: object, source: str) -> tuple[int, int, str]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise RunError(f"{source} is damaged: {name!a} lacks dtype, shape or data_offsets")
    shape, offsets = _naturals(entry["shape"]), _naturals(entry["data_offsets"])
    dtype = DTYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if dtype is None:
        raise RunError(f"{source} has {name!a} of type {entry['dtype']!a:.40}, unknown to NumPy")
    if shape is None or offsets is None or len(offsets) != 2 or len(shape) > MOST_AXES:
        raise RunError(f"{source} is damaged: {name!a} has no proper shape and data_offsets")
    item = np.dtype(dtype).itemsize
    if math.prod(max(axis, 1) for axis in shape) * item >= 2**63:
        raise RunError(f"{source} is damaged: {name!a} has a shape beyond all memory")
    begin, end = offsets
    if end - begin != math.prod(shape) * item:
        raise RunError(
            f"{source} is damaged: {name!a} claims {end - begin:,} bytes,"
            f" its shape needs {math.prod(shape) * item:,}"
        )
    return begin, end, name


def _naturals(value: object) -> list[int] | None:
    if isinstance(value, list) and all(type(item) is int and item >= 0 for item in value):
        return value
    return None
