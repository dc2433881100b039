"""Laws of ids in files: several shards are one row, exactly, and what is damaged is noticed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import TextError
from clearformer.text import Batches, shards, windows
from clearformer.text.ids import StoredIds
from clearformer.text.shards import HEADER_BYTES, Kind, Shard, ShardedIds, require_shard
from text.samples import many_examples

FINGERPRINT = "0123456789abcdef" * 4


def written(folder: Path, parts: list[np.ndarray], vocabulary: int) -> ShardedIds:
    kind = Kind(vocabulary, FINGERPRINT)
    found = []
    for number, ids in enumerate(parts):
        path = folder / f"{number}.ids"
        path.write_bytes(kind.header(len(ids)) + ids.astype(kind.dtype).tobytes())
        found.append(Shard(path, len(ids)))
    return ShardedIds(found, kind)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shards")


parts = st.lists(st.lists(st.integers(0, 299), min_size=1, max_size=9), max_size=6)


@many_examples
@given(parts, st.integers(-60, 60), st.integers(-60, 60))
def test_a_stretch_is_that_of_the_whole(
    folder: Path, parts: list[list[int]], start: int, stop: int
) -> None:
    stored = written(folder, [np.array(part) for part in parts], 300)
    whole = np.array([id for part in parts for id in part], np.uint16)
    assert isinstance(stored, StoredIds)
    assert len(stored) == len(whole)
    for part in (slice(start, stop), slice(start, None), slice(None, stop), slice(None)):
        assert np.array_equal(stored[part], whole[part])
        assert stored[part].dtype == np.dtype("<u2")


@many_examples
@given(parts, st.integers(1, 9), st.integers(1, 5), st.integers(0, 99))
def test_batches_and_windows_of_it_are_those_of_the_whole(
    folder: Path, parts: list[list[int]], context: int, batch: int, seed: int
) -> None:
    stored = written(folder, [np.array(part) for part in parts], 300)
    whole = np.array([id for part in parts for id in part], np.uint16)
    if len(whole) < 2:
        return
    for one, other in zip(
        windows(stored, context, batch), windows(whole, context, batch), strict=True
    ):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    if len(whole) > context:
        sources = [
            Batches(ids, context, batch, np.random.default_rng(seed)) for ids in (stored, whole)
        ]
        for _ in range(5):
            assert np.array_equal(sources[0].next(), sources[1].next())


@pytest.mark.parametrize(
    ("vocabulary", "width"),
    [(1, 1), (256, 1), (257, 2), (65_535, 2), (65_536, 2), (65_537, 4), (151_936, 4), (2**32, 4)],
)
def test_the_fewest_bytes_hold_the_largest_id(tmp_path: Path, vocabulary: int, width: int) -> None:
    ids = np.array([0, vocabulary - 1, vocabulary // 2])
    stored = written(tmp_path, [ids], vocabulary)
    assert (tmp_path / "0.ids").stat().st_size == HEADER_BYTES + 3 * width
    assert stored[:].tolist() == ids.tolist()
    assert stored.rows(np.array([1, 0]), 2).tolist() == [ids[1:].tolist(), ids[:2].tolist()]


def test_a_file_looks_the_same_on_every_machine(tmp_path: Path) -> None:
    written(tmp_path, [np.array([1, 258])], 300)
    assert (tmp_path / "0.ids").read_bytes() == (
        b"CLEARIDS"
        b"\x01\0\0\0"
        b"\x02\0\0\0"
        b"\x02\0\0\0\0\0\0\0"
        b"\x2c\x01\0\0\0\0\0\0" + bytes.fromhex(FINGERPRINT) + b"\x01\0\x02\x01"
    )


def test_more_shards_than_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "MOST_OPEN", 3)
    stored = written(tmp_path, [np.arange(n, n + 2) for n in range(20)], 300)
    for start in (0, 38, 5, 20, 1):
        assert stored[start : start + 1].tolist() == [start // 2 + start % 2]
    assert len(stored._mapped) == 3
    assert len(stored[:]) == 40


def test_only_a_stretch_can_be_asked_for(tmp_path: Path) -> None:
    stored = written(tmp_path, [np.arange(9)], 300)
    with pytest.raises(TextError, match="a step of 1; got 2"):
        stored[::2]


# What is damaged.


def flip(byte: int) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        raw[byte] ^= 0x40
        path.write_bytes(raw)

    return damage


def of_another_tokenizer(path: Path) -> None:
    kind = Kind(300, "f" * 64)
    path.write_bytes(kind.header(9) + path.read_bytes()[HEADER_BYTES:])


def of_another_type(path: Path) -> None:
    kind = Kind(200, FINGERPRINT)
    path.write_bytes(kind.header(9) + bytes(9))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "is missing; prepare"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-1]), "expected 82 bytes, got 81"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"\0"), "82 bytes, got 83"),
    "empty": (lambda path: path.write_bytes(b""), "is no shard of ids"),
    "another file": (lambda path: path.write_bytes(bytes(82)), "begins with CLEARIDS"),
    "newer": (flip(8), "has format 65, this clearformer reads up to 1; upgrade it"),
    "another tokenizer": (of_another_tokenizer, "is a shard of another tokenizer"),
    "another type": (of_another_type, "expected bytes of an id 2, got 1 and vocabulary 300, got"),
    "more ids": (flip(16), "expected ids 9, got 73"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
}


@pytest.mark.parametrize("damage, told", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_shard_is_refused(
    tmp_path: Path, damage: Callable[[Path], object], told: str
) -> None:
    written(tmp_path, [np.arange(9)], 300)
    damage(tmp_path / "0.ids")
    with pytest.raises(TextError) as refused:
        require_shard(Shard(tmp_path / "0.ids", 9), Kind(300, FINGERPRINT))
    message = str(refused.value)
    assert message.startswith(str(tmp_path / "0.ids"))
    assert told in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("byte", range(HEADER_BYTES))
def test_every_byte_of_the_header_counts(tmp_path: Path, byte: int) -> None:
    written(tmp_path, [np.arange(9)], 300)
    flip(byte)(tmp_path / "0.ids")
    with pytest.raises(TextError):
        require_shard(Shard(tmp_path / "0.ids", 9), Kind(300, FINGERPRINT))


def test_an_id_beyond_the_vocabulary_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    stored = written(tmp_path, [np.arange(5), np.array([1, 300, 2])], 300)
    assert stored[:6].tolist() == [0, 1, 2, 3, 4, 1]
    with pytest.raises(TextError, match=r"1\.ids is damaged: it holds id 300, the vocabulary has"):
        stored.rows(np.array([0, 5]), 3)


def test_a_shard_that_goes_away_is_told(tmp_path: Path) -> None:
    stored = written(tmp_path, [np.arange(5), np.arange(5)], 300)
    (tmp_path / "0.ids").unlink()
    (tmp_path / "1.ids").write_bytes(b"short")
    for start in (0, 5):
        with pytest.raises(TextError, match="cannot be read"):
            stored[start : start + 2]
