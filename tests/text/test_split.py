"""The part to learn from, and the part to be judged by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError
from clearformer.text import split_text
from text.samples import many_examples, real_text


@many_examples
@given(st.text(max_size=40), st.floats(0, 1, exclude_max=True))
def test_both_parts_are_the_text(text: str, validation: float) -> None:
    train, rest = split_text(text, validation)
    assert train + rest == text
    assert len(train) == int(len(text) * (1 - validation))


def test_shakespeare_is_split_as_everyone_splits_it() -> None:
    train, validation = split_text(real_text("tiny-shakespeare.txt"))
    assert (len(train), len(validation)) == (1_003_854, 111_540)


@pytest.mark.parametrize("validation", [-0.1, 1.0, 2.0, float("nan"), float("inf")])
def test_a_share_that_is_none_is_refused(validation: float) -> None:
    with pytest.raises(ConfigurationError, match="share"):
        split_text("text", validation)
