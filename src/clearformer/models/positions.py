"""How a model knows the order of its tokens: added waves, or turned queries and keys."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from clearformer import ops
from clearformer.errors import ShapeError
from clearformer.models.part import Part
from clearformer.models.tap import Tap
from clearformer.tensor import Complex, Float, Tensor, number_type

BASE = 10_000.0  # the longest wave is 2π · 10,000 positions (Vaswani et al., 2017, section 3.5)


@lru_cache(maxsize=16)
def sinusoidal_positions(
    length: int, embed: int, dtype: str = "float64"
) -> Float[np.ndarray, "seq embed"]:
    """PE(p, 2i) = sin(p / 10000^(2i/embed)),  PE(p, 2i+1) = cos of the same angle.

    (Vaswani et al., "Attention Is All You Need", 2017, section 3.5; embed is their d_model.)
    """
    angles = _angles(length, embed)
    table = np.empty((length, embed))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : embed // 2])
    table = table.astype(dtype)
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def rotary_turns(length: int, width: int) -> Complex[np.ndarray, "seq half_width"]:
    """exp(i · p / 10000^(2j/width)): how far the j-th pair is turned at position p.

    (Su et al., "RoFormer", 2021, section 3.2.2; width is their d.)
    """
    turns = np.exp(1j * _angles(length, width))
    turns.flags.writeable = False
    return turns


def _part(table: np.ndarray, start: int, seq: int) -> np.ndarray:
    """The rows of the positions start … start + seq."""
    if start + seq > len(table):
        raise ShapeError(
            f"this model sees {len(table)} tokens at once; got {start + seq}; "
            f"give it the last {len(table)}"
        )
    return table[start : start + seq]


def _angles(length: int, width: int) -> np.ndarray:
    even = np.arange(0, width, 2) / width
    return np.arange(length)[:, None] / BASE**even


@dataclass(frozen=True)
class SinusoidalPositions(Part):
    """Adds to each token's vector the waves of its position."""

    length: int

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], start: int, tap: Tap
    ) -> Float[Tensor, "batch seq embed"]:
        """Adds the rows start … start + seq of the table."""
        table = sinusoidal_positions(self.length, x.shape[-1], number_type(x))
        position = tap("position", _part(table, start, x.shape[-2]))
        return tap("positioned", ops.add(x, position))


@dataclass(frozen=True)
class NothingAdded(Part):
    """For models that turn queries and keys instead."""

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], start: int, tap: Tap
    ) -> Float[Tensor, "batch seq embed"]:
        """Gives x on."""
        return tap("positioned", x)


@dataclass(frozen=True)
class RotaryPositions(Part):
    """Turns each pair of a query or key by an angle that grows with its position.

    The product of a query at p and a key at q then depends on p - q only.
    """

    length: int

    def __call__(
        self, x: Float[Tensor, "*lead seq width"], start: int
    ) -> Float[Tensor, "*lead seq width"]:
        """Turns the positions start … start + seq."""
        return ops.rotate(x, self._turns(x, start))

    def of_unit(
        self, x: Float[Tensor, "*lead seq width"], start: int
    ) -> Float[Tensor, "*lead seq width"]:
        """The same of x normalised, as by `UnitRMSNorm`: both at once."""
        return ops.rotate_unit(x, self._turns(x, start))

    def _turns(self, x: Tensor, start: int) -> np.ndarray:
        return _part(rotary_turns(self.length, x.shape[-1]), start, x.shape[-2])
