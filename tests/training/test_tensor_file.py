"""Laws of tensor files: the library agrees; no claim of a file is believed unchecked."""

import json
import tracemalloc

import numpy as np
import pytest
import safetensors
from safetensors import SafetensorError
from safetensors.numpy import load, save

from clearformer.errors import RunError
from clearformer.training import tensor_file


def write(path, arrays):
    size, pieces = tensor_file.encode(arrays, "x")
    path.write_bytes(b"".join(pieces))
    assert path.stat().st_size == size


def file_of(path, header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


def entry(shape, end, begin=0, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_the_library_reads_what_we_write_and_we_read_what_it_writes(tmp_path, rng):
    arrays = {
        name: rng.integers(0, 2, (3, 5)).astype(dtype)
        for name, dtype in zip("qwertyuiopasd", tensor_file.CODES, strict=True)
    }
    write(tmp_path / "ours", arrays)
    (tmp_path / "theirs").write_bytes(save(arrays))
    theirs = load((tmp_path / "ours").read_bytes())
    for read in (theirs, tensor_file.read(tmp_path / "theirs")):
        assert read.keys() == arrays.keys()
        for name, array in arrays.items():
            assert read[name].dtype == array.dtype
            assert (read[name] == array).all()


def test_arrays_lie_aligned(tmp_path, rng):
    arrays = {f"{i}": np.zeros(i, rng.choice(["u1", "f2", "f4", "f8"])) for i in range(30)}
    write(tmp_path / "x", arrays)
    raw = (tmp_path / "x").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert length % 8 == 0
    for name, where in json.loads(raw[8 : 8 + length]).items():
        assert where["data_offsets"][0] % arrays[name].itemsize == 0


def test_writing_makes_no_second_copy(tmp_path):
    array = np.ones((1000, 1000), np.float32)
    tracemalloc.start()
    try:
        with (tmp_path / "x").open("wb") as file:
            for piece in tensor_file.encode({"a": array}, "x")[1]:
                file.write(piece)
        assert tracemalloc.get_traced_memory()[1] < array.nbytes / 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"a": entry([4194305, 4194305, 211106198978564], 16)}, bytes(16)),
        ({"a": entry([2**62, 4], 0)}, b""),
        ({"a": entry([0, 2**62, 2**62], 0)}, b""),
        ({"a": entry([2], 4)}, bytes(4)),
        ({"a": entry([1], 4)}, bytes(3)),
        ({"a": entry([1], 4)}, bytes(5)),
        ({"a": entry([1], 4), "b": entry([1], 4)}, bytes(8)),
        ({"a": entry([1], 4), "b": entry([1], 12, 8)}, bytes(12)),
        ({"a": entry([-1], 4)}, bytes(4)),
        ({"a": entry([True], 4)}, bytes(4)),
        ({"a": entry([1.0], 4)}, bytes(4)),
        ({"a": entry([1] * 33, 4)}, bytes(4)),
        ({"a": entry([1], 0, 4)}, bytes(4)),
        ({"a": entry([1], 4, dtype="F8_E4M3")}, bytes(1)),
        ({"a": entry([1], 2, dtype="BF16")}, bytes(2)),
        ({"a": entry([1], 4, dtype=["F32"])}, bytes(4)),
        ({"a": {"dtype": "F32", "shape": [1]}}, bytes(4)),
        ({"a": 3}, b""),
        ({"a": entry("4", 4)}, bytes(4)),
        ({"__metadata__": {"a": 1}}, b""),
        ({"__metadata__": []}, b""),
        (b'{"a": 1, "a": 1}', b""),
        (b"[" * 50_000, b""),
        (b"\xff\xfe", b""),
        (b"", b""),
    ],
)
def test_a_file_that_contradicts_itself_is_refused_before_the_library_sees_it(
    tmp_path, monkeypatch, header, body
):
    monkeypatch.setattr(safetensors, "safe_open", lambda *_, **__: pytest.fail("believed"))
    with pytest.raises(RunError) as caught:
        tensor_file.read(file_of(tmp_path / "x", header, body))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("raw", [b"", b"1234567", b"\xff" * 8, b"\x10" + bytes(7) + b"{}"])
def test_a_header_longer_than_the_file_is_refused(tmp_path, raw):
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(RunError, match=r"header of .* bytes in a file of"):
        tensor_file.read(tmp_path / "x")


def test_too_many_tensors_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tensor_file, "MOST_TENSORS", 3)
    write(tmp_path / "x", {f"{i}": np.zeros(1) for i in range(4)})
    with pytest.raises(RunError, match="has 4 tensors; at most 3 are read"):
        tensor_file.read(tmp_path / "x")


def test_we_accept_nothing_that_the_library_refuses(tmp_path, rng):
    write(tmp_path / "x", {"a": np.ones((2, 3), np.float32), "b": np.zeros(0), "c": np.ones(4)})
    whole = (tmp_path / "x").read_bytes()
    accepted = 0
    for _ in range(600):
        mutated = bytearray(whole)
        for _ in range(rng.integers(1, 4)):
            mutated[rng.integers(0, len(mutated) - 56)] = rng.integers(0, 256)
        (tmp_path / "x").write_bytes(mutated)
        try:
            tensor_file.read(tmp_path / "x")
        except RunError:
            continue
        accepted += 1
        try:
            load(bytes(mutated))
        except SafetensorError:
            pytest.fail(f"accepted {bytes(mutated)!r}")
    assert accepted > 0
