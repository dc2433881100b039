"""JSON in one exact form."""

import pytest

from clearformer.text.exact_json import canonical_json, parse_json


@pytest.mark.parametrize(
    "raw",
    [
        *(b"", b"{", b"{} {}", b"\xff", b"\xef\xbb\xbf{}", b'{"a": 1, "a": 2}'),
        *(b"NaN", b"[Infinity]", b"-Infinity", b"1" * 5_001, b"[" * 99_999, b"1e999", b'"\\ud800"'),
        b"[" * 70 + b"]" * 70,
    ],
    ids=lambda raw: ascii(raw[:20]),
)
def test_what_is_not_exact_is_refused_in_one_line(raw: bytes) -> None:
    with pytest.raises(ValueError) as refusal:
        parse_json(raw)
    assert len(str(refusal.value).splitlines()) == 1


def test_the_canonical_form_does_not_depend_on_order() -> None:
    assert canonical_json({"b": [1, "é"], "a": 2}) == canonical_json({"a": 2, "b": [1, "é"]})
    assert parse_json(canonical_json({"b": [1, "é"]})) == {"b": [1, "é"]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))
