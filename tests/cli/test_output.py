"""Laws of what is printed: no text can steer the terminal, and JSON is JSON."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.cli.output import printable, show_json
from cli.documents import only_document

many = settings(max_examples=300, deadline=None, derandomize=True)

STEERING = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    "\u200b",
    "\u200e",
    "\u202e",
    "\u2066",
    "\u2028",
    "\ufeff",
    "\U000e0001",
]


@given(st.text(st.characters() | st.sampled_from(STEERING)))
@many
def test_what_is_printed_holds_no_control_characters(text):
    shown = printable(text)
    assert all(c.isprintable() or c in "\n\t\u3000" for c in shown)
    shown.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
@many
def test_ordinary_text_is_printed_as_it_is(text):
    assert printable(text) == text


@pytest.mark.parametrize("text", ["a b\tc\nd", "吾輩は　猫である。", "👩\U0001f3fd", "é"])
def test_spaces_lines_and_other_scripts_stay(text):
    assert printable(text) == text


@pytest.mark.parametrize(
    "text, shown",
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\r", "\\x0d"),
        ("\x9b", "\\x9b"),
        ("\u202e", "\\u202e"),
        ("\udc80", "\\udc80"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_steers_a_terminal_is_shown_as_its_number(text, shown):
    assert printable(text) == shown


@given(st.dictionaries(st.text(), st.text() | st.floats(allow_nan=False, allow_infinity=False)))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_json_gives_back_what_went_in(document):
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("click.echo", printed.append)
        show_json(document)
    assert only_document(printed[0] + "\n") == document


def joined(text):
    """Two halves of a surrogate pair that happen to stand together are the character itself."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(st.text(st.sampled_from(STEERING) | st.characters(categories=["Cs"]), min_size=1))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_json_holds_no_control_characters_and_no_half_surrogates(text):
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr("click.echo", printed.append)
        show_json({"text": text})
    printed[0].encode("utf-8")
    assert printed[0].isprintable()
    assert json.loads(printed[0]) == {"text": joined(text)}


def test_japanese_stays_readable_in_json(capsys):
    show_json({"text": "猫"})
    assert "猫" in capsys.readouterr().out


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_json_cannot_say_is_never_printed(number, capsys):
    with pytest.raises(ValueError, match="JSON"):
        show_json({"loss": number})
    assert capsys.readouterr().out == ""
