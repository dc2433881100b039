"""What is saved comes back, and what is damaged is refused."""

import json
import pickle

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import RunError
from clearformer.words.files import NUMBERS, WORDS


@pytest.fixture
def saved(tmp_path, vectors):
    vectors.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_what_was_saved_comes_back_to_the_bit(saved, vectors):
    found = cf.WordVectors.load(saved)
    np.testing.assert_array_equal(found.vectors, vectors.vectors, strict=True)
    np.testing.assert_array_equal(found.vocabulary.counts, vectors.vocabulary.counts, strict=True)
    assert found.words == vectors.words
    assert (found.options, found.loss) == (vectors.options, vectors.loss)
    assert sorted(path.name for path in saved.parent.iterdir()) == ["saved"]


def test_others_can_read_the_numbers(saved, vectors):
    from safetensors.numpy import load_file

    np.testing.assert_array_equal(load_file(saved / NUMBERS)["vectors"], vectors.vectors)


def test_nothing_that_is_there_is_replaced(saved, vectors, tmp_path):
    (tmp_path / "file").write_text("mine", "utf-8")
    for taken in (saved, tmp_path / "file"):
        with pytest.raises(RunError, match="already there"):
            vectors.save(taken)
    assert (tmp_path / "file").read_text("utf-8") == "mine"


def test_a_save_that_fails_leaves_nothing(vectors, tmp_path, monkeypatch):
    def full(path, pieces):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("clearformer.words.files.write_file", full)
    with pytest.raises(RunError, match=r"No space left on device .* bytes needed"):
        vectors.save(tmp_path / "new" / "saved")
    assert [*(tmp_path / "new").iterdir()] == []


def test_what_an_interrupted_save_left_is_named(vectors, tmp_path):
    (tmp_path / "saved.tmp").mkdir()
    with pytest.raises(RunError, match=r"saved\.tmp is in the way"):
        vectors.save(tmp_path / "saved")


@pytest.mark.parametrize("place", [9, 200, -1])
def test_a_flipped_bit_among_the_numbers_is_noticed(saved, place):
    raw = bytearray((saved / NUMBERS).read_bytes())
    raw[place] ^= 4
    (saved / NUMBERS).write_bytes(raw)
    with pytest.raises(RunError, match=r"vectors\.safetensors is damaged"):
        cf.WordVectors.load(saved)


def changed(document: dict, field: str, value: object) -> dict:
    return {**document, field: value}


DAMAGE = {
    "a word twice": lambda d: changed(d, "words", [d["words"][0]] * len(d["words"])),
    "a word that is a number": lambda d: changed(d, "words", [1, *d["words"][1:]]),
    "fewer words": lambda d: changed(d, "words", d["words"][:-1]),
    "fewer of both": lambda d: {**d, "words": d["words"][:-1], "counts": d["counts"][:-1]},
    "a count of zero": lambda d: changed(d, "counts", [0, *d["counts"][1:]]),
    "a huge count": lambda d: changed(d, "counts", [10**60, *d["counts"][1:]]),
    "an impossible dial": lambda d: changed(d, "options", {**d["options"], "embed": -1}),
    "an unknown dial": lambda d: changed(d, "options", {**d["options"], "heads": 1}),
    "options in a list": lambda d: changed(d, "options", []),
    "another digest": lambda d: changed(d, "sha256", "0" * 64),
    "a field more": lambda d: changed(d, "extra", 1),
    "a field less": lambda d: {name: value for name, value in d.items() if name != "loss"},
    "a newer format": lambda d: changed(d, "format", 2),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_words_are_refused_in_one_line(saved, damage):
    document = json.loads((saved / WORDS).read_text("utf-8"))
    (saved / WORDS).write_text(json.dumps(DAMAGE[damage](document)), "utf-8")
    with pytest.raises(RunError, match=str(saved)) as found:
        cf.WordVectors.load(saved)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"words": NaN}'])
def test_words_that_are_no_json_are_refused(saved, raw):
    (saved / WORDS).write_bytes(raw)
    with pytest.raises(RunError, match="is damaged"):
        cf.WordVectors.load(saved)


def test_what_is_missing_is_named(saved, tmp_path):
    (saved / NUMBERS).unlink()
    with pytest.raises(RunError, match="No such file"):
        cf.WordVectors.load(saved)
    with pytest.raises(RunError, match="holds no word vectors"):
        cf.WordVectors.load(tmp_path / "none")


def test_a_pickle_is_never_opened(tmp_path):
    (tmp_path / "vectors.pkl").write_bytes(pickle.dumps({"a": [1.0]}))
    with pytest.raises(RunError, match="looks like a pickle"):
        cf.WordVectors.load(tmp_path)
