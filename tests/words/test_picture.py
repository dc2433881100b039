"""The map as a picture."""

from xml.etree import ElementTree

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, RunError
from clearformer.words.labels import placed, size_of
from clearformer.words.options import WordOptions
from clearformer.words.picture import drawn
from clearformer.words.vocabulary import Vocabulary

NAMESPACE = "{http://www.w3.org/2000/svg}"


def vectors_of(words: tuple[str, ...]) -> cf.WordVectors:
    chance = np.random.default_rng(0)
    table = chance.normal(size=(len(words), 4))
    return cf.WordVectors(
        Vocabulary(words, np.arange(len(words), 0, -1)), table, WordOptions(embed=4), 1.0
    )


def words_drawn(picture: str) -> list[str]:
    return [found.text or "" for found in ElementTree.fromstring(picture).iter(f"{NAMESPACE}text")]


def test_a_picture_is_xml_with_every_word_once(vectors, tmp_path):
    vectors.picture(tmp_path / "map.svg", 20)
    picture = (tmp_path / "map.svg").read_text("utf-8")
    assert words_drawn(picture) == [*vectors.words[:20]]
    for outside in ("href", "url(", "<script", "@import"):
        assert outside not in picture
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map.svg"]


def test_words_of_all_scripts_and_signs_are_written():
    words = ("猫", "吾輩", "である", "ペン", "i'll", "naïve", "𠮷野", "a<b&c\"d'>")
    assert words_drawn(drawn(vectors_of(words), words)) == [*words]


@pytest.mark.parametrize("length", [3, 12])
@pytest.mark.parametrize("spread", [1.0, 0.02])
def test_labels_cover_neither_each_other_nor_points(rng, length, spread):
    """Even where all points are crowded in a corner of the picture."""
    texts = tuple(f"{n:0{length}}" for n in range(60))
    points = 100 + spread * rng.random((60, 2)) * [1000, 600]
    labels = placed(points, texts, 1200.0, 800.0)
    middles = np.array([(label.x, label.y) for label in labels])
    size = np.array(size_of(texts[0]))
    apart = np.abs(middles[:, None] - middles) >= size - 1e-9
    assert (apart.any(-1) | np.eye(60, dtype=bool)).all()
    clear = np.abs(middles[:, None] - points) >= size / 2 - 1e-9
    assert (clear.any(-1) | np.eye(60, dtype=bool)).all()
    assert (middles >= size / 2).all()
    assert (middles <= [1200, 800] - size / 2).all()
    near = [label for label in labels if not label.led]
    assert near


def test_full_width_letters_take_more_room():
    assert size_of("猫猫")[0] > size_of("ab")[0]


def test_a_word_asked_for_twice_is_drawn_once(vectors, tmp_path):
    vectors.picture(tmp_path / "map.svg", ["fruita", "FRUITA", "toola"])
    assert words_drawn((tmp_path / "map.svg").read_text("utf-8")) == ["fruita", "toola"]


def test_too_many_or_too_few_are_refused(vectors):
    with pytest.raises(ConfigurationError, match="at most 1,000"):
        drawn(vectors, ("fruita",) * 1001)
    with pytest.raises(ConfigurationError, match="at least two"):
        drawn(vectors, ("fruita",))


def test_a_file_that_cannot_be_written_is_one_line(vectors, tmp_path):
    with pytest.raises(RunError, match="cannot write"):
        vectors.picture(tmp_path / "none" / "map.svg")
    with pytest.raises(RunError, match="cannot write"):
        vectors.picture(tmp_path)
