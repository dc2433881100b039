"""The marks around texts: two ids beyond the vocabulary, which stand for no text."""

MARKS = 2
"""Rows that a table of tokens has for them."""

SHOWN = ("⟨begin⟩", "⟨end⟩")
"""What a person is shown for them, in the order of their ids."""


def begin_of(vocabulary: int) -> int:
    """The id that a decoder reads first."""
    return vocabulary


def end_of(vocabulary: int) -> int:
    """The id after a source, and after a target; rows are filled up with it, unseen.

    (Sutskever et al., 2014, section 2.)
    """
    return vocabulary + 1
