"""For a test-suite: an assertion with the same words as `clearformer check`."""

from collections.abc import Callable
from typing import Any

from clearformer.checking.check import check
from clearformer.checking.exercise import Exercise


def assert_correct(
    answer: Callable[..., Any], exercise: str | Exercise, *, language: str = "en", hint: int = 0
) -> None:
    """Passes where `answer` is right, also by another convention; else says what is wrong.

    >>> from clearformer.checking.testing import assert_correct
    >>> def test_softmax():
    ...     assert_correct(softmax, "softmax")

    Raises:
        AssertionError: with the text that `clearformer check` prints.
        ConfigurationError: no such exercise, language or hint.
    """
    __tracebackhide__ = True  # pytest shows the caller's line, not this one
    found = check(answer, exercise, language=language, hint=hint)
    if not found.is_right:
        raise AssertionError(f"\n{found.message}")
