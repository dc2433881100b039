"""The numbers of a decoder, arranged for making one token after another.

Each norm is folded into the matrix behind it where that is small, and query, key and value are one
matrix, so that each weight is read once and little is called between. `generation.plan` makes a
plan of a decoder; an engine that has a `decode` carries it out; a test holds it equal to the
decoder itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Folded:
    """norm(x) W + b, with the norm's bias folded in, and its gain where that is soon done:

    (x - mean) / size · matrix + bias, or (x - mean) / size · gain · matrix + bias.
    """

    matrix: Any
    bias: Any | None
    centre: bool
    """Whether the mean is taken away first (LayerNorm)."""
    epsilon: float | None
    """None where there is no norm."""
    gain: Any | None = None
    """None where it is folded in, or 1."""


@dataclass(frozen=True)
class LayerPlan:
    """The numbers of one block."""

    query_key_value: Folded
    output: Folded
    expand: Folded
    gate: Folded | None
    project: Folded
    activation: Callable[[Any], Any]
    activation_name: str | None
    """gelu, squared_relu or silu; None for one of somebody's own."""


@dataclass(frozen=True)
class Plan:
    """The numbers of a decoder, arranged for decoding."""

    embedding: Any
    """(vocab, embed), whatever scales it included."""
    shift: Any | None
    """(embed,) The share of the token before; None without token shift."""
    positions: Any | None
    """(context, embed), added; None if queries and keys are turned."""
    turns: Any | None
    """(context, width/2) complex."""
    scale: float
    """What products of queries and keys are multiplied by to be scores."""
    norm_epsilon: float | None
    """Of the norm of queries and keys; None without."""
    heads: int
    key_value_heads: int
    layers: tuple[LayerPlan, ...]
    logits: Folded
