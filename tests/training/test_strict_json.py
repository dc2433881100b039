"""Laws of strict JSON: what is written is read back; hostile text is one plain error."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import RunError
from clearformer.training import strict_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('aé\0"\\'), inner),
    max_leaves=20,
)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text('aé\0"\\'), VALUES))
def test_reading_gives_back_what_was_written(value):
    assert strict_json.decode(strict_json.encode(value, "x"), "x") == value


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=40) | st.text('[]{}",:0123456789.eE-+tfn \\u', max_size=40))
def test_any_bytes_give_an_object_or_a_run_error(raw):
    raw = raw.encode() if isinstance(raw, str) else raw
    try:
        assert isinstance(strict_json.decode(raw, "x"), dict)
    except RunError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 1}}',
        '{"a": ' + "1" * 101 + "}",
        '{"a": ' + "1" * 5000 + "}",
        '{"a": ' + "[" * 70 + "]" * 70 + "}",
        '{"a": ' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"a":' * 100_000,
        '{"a": "\\ud800"}',
        '\ufeff{"a": 1}',
        '{"a": 1} x',
    ],
    ids=lambda text: text[:16],
)
def test_what_json_should_not_hold_is_refused(text):
    with pytest.raises(RunError, match=r"run\.json is damaged: expected .*, got "):
        strict_json.decode(text.encode(), "run.json")


def test_bytes_that_are_not_utf_8_are_refused():
    with pytest.raises(RunError, match=r"run\.json is damaged"):
        strict_json.decode(b'{"a": "\xff"}', "run.json")


def test_numbers_of_numpy_become_plain_ones():
    value = {"a": np.float32(0.5), "b": np.int64(3), "c": np.bool_(True), "d": (1, 2)}
    assert json.loads(strict_json.encode(value, "x")) == {"a": 0.5, "b": 3, "c": True, "d": [1, 2]}


@pytest.mark.parametrize(
    "value",
    [
        {"a": float("nan")},
        {"a": np.float32("inf")},
        {"a": np.zeros(2)},
        {"a": {1, 2}},
        {"a": "\udfff"},
        {"a": {1: 2, "1": 3}},
        {"a": 10**120},
    ],
    ids=repr,
)
def test_what_could_not_be_read_back_is_not_written(value):
    with pytest.raises(RunError):
        strict_json.encode(value, "x")


def test_a_file_too_large_is_not_read(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1}', "utf-8")
    assert strict_json.read(tmp_path / "a.json") == {"a": 1}
    with pytest.raises(RunError, match="expected at most 7 bytes, got 8"):
        strict_json.read(tmp_path / "a.json", largest=7)
