"""Vectors to look at, trained once."""

import pytest

import clearformer as cf
from words.grammars import classes


@pytest.fixture(scope="session")
def vectors() -> cf.WordVectors:
    """Of the text of classes; only to be read."""
    return cf.word_vectors(classes(), embed=16, window=1, epochs=5, threshold=1.0)
