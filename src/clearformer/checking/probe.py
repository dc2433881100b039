"""Inputs on which an answer is tried; made so that mistakes show and can be told apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clearformer.checking.words import Words

Role = Literal["main", "stress", "clue"]


@dataclass(frozen=True)
class Probe:
    """One call.

    A good probe has axes of different lengths, none of 1 or 2, and scores with a spread of 1 to 2:
    what is square, tiny or saturated hides mistakes.
    """

    name: str
    """Short, such as "5 tokens"; no two of an exercise are alike."""
    arguments: Mapping[str, Any]
    """By the names of the exercise's own parameters: arrays, numbers, or lists and dicts of them.
    Those with a default may be left out."""
    role: Role = "main"
    """main: decides. stress: hard numbers, reported beside the verdict. clue: only says where to
    look, when no known mistake fits."""
    form: str | None = None
    """Where an argument may come in several forms, such as "a vector" or "one row": which this is.
    An answer needs to take one of the forms that main probes have; it is judged by that alone.
    Of hard inputs in a form of their own only known mistakes are spoken of."""
    says: Words | None = None
    """What is hard about it, for a person: "scores of 1,000"."""
    batched: bool = False
    """It has batch axes, which an answer need not take: a main probe like that decides only where
    what came of all main ones together is right or known. A batched style leaves it as it is."""


def normal(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Random numbers around 0 with standard deviation `scale`, the same on every machine.

    They have three decimals, so that an input can be shown and pasted as it is.
    """
    return np.random.default_rng(seed).normal(0, scale, shape).round(3)


def whole(seed: int, below: int, *shape: int) -> np.ndarray:
    """Random whole numbers from 0 to `below` - 1, the same on every machine."""
    return np.random.default_rng(seed).integers(0, below, shape)
