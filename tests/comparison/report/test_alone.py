"""Pictures of a report as files of their own."""

from xml.etree import ElementTree

import pytest

from clearformer.comparison.report.alone import alone, pictures_of
from clearformer.comparison.report.heat import heat
from clearformer.comparison.report.page import LANGUAGES
from comparison.report.example import example

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_is_a_whole_svg_with_its_style_and_its_words(language):
    found = pictures_of(example(), language)
    assert {"results-1", "fading-1", "fading-2", "growth-1", "temperature-1"} <= found.keys()
    for drawn in found.values():
        root = ElementTree.fromstring(drawn)
        assert root.tag == f"{SVG}svg"
        assert "--c1:" in (root.findtext(f"{SVG}style") or "")
        assert root.findtext(f"{SVG}title") and root.findtext(f"{SVG}desc")
        assert "narrow" not in root.attrib["class"]


def test_a_picture_needs_nothing_from_elsewhere():
    for drawn in pictures_of(example()).values():
        assert "url(" not in drawn and "@import" not in drawn and "href" not in drawn
        assert drawn.count("http") == 1  # the name of SVG


def test_only_a_picture_of_a_report_is_taken():
    with pytest.raises(ValueError, match="expected a picture"):
        alone("<svg></svg>")  # type: ignore[arg-type]


def test_a_row_of_attention_is_a_token_that_looks():
    drawn = alone(heat("ab", ["x", "y & z", "w"], [[1.0], [0.5, 0.25, 0.25]], "t", "d"))
    root = ElementTree.fromstring(drawn)
    assert len(list(root.iter(f"{SVG}rect"))) == 4
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert texts == ["a", "b", "x", "y␣&␣z", "w"]
    hints = [each.text for each in root.iter(f"{SVG}title")]
    assert "b → y␣&␣z: 0.250" in hints
