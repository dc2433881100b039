"""The key–value cache: what attention has already computed of the positions before."""

from typing import Any

import numpy as np

from clearformer.engines.dispatch import engine_of
from clearformer.tensor import Float, Int, Tensor


class LayerCache:
    """Keys and values of one attention layer, in arrays made once for the whole context."""

    def __init__(self, context: int):
        self.context = context
        self.length = 0
        self._key: Any = None
        self._value: Any = None

    def extend(
        self, key: Float[Tensor, "*lead new width"], value: Float[Tensor, "*lead new width"]
    ) -> tuple[Float[Tensor, "*lead key width"], Float[Tensor, "*lead key width"]]:
        """Adds the new positions and returns all of them, as views."""
        if self._key is None:
            *lead, _, width = key.shape
            empty = engine_of(key).empty
            self._key = empty((*lead, self.context, width), key)
            self._value = empty((*lead, self.context, value.shape[-1]), value)
        end = self.length + key.shape[-2]
        self._key[..., self.length : end, :] = key
        self._value[..., self.length : end, :] = value
        self.length = end
        return self._key[..., :end, :], self._value[..., :end, :]

    def hold(self, key: Float[Tensor, "*lead context width"], value: Any) -> None:
        """Writes keys and values into these arrays from now on, which somebody else has made."""
        self._key, self._value = key, value

    def take(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Goes on with some of the sequences, each perhaps several times."""
        if self._key is not None:
            self._key, self._value = self._key[rows], self._value[rows]


class KeyValueCache:
    """One `LayerCache` per block."""

    def __init__(self, layers: int, context: int):
        self.context = context
        self.layers = tuple(LayerCache(context) for _ in range(layers))
        self.newest: Any = None
        """(batch, 1, embed) The newest position's vector from the embedding, for token shift."""

    @property
    def length(self) -> int:
        """How many positions are held."""
        return self.layers[0].length

    def advance(self, positions: int = 1) -> None:
        """So many positions more are held: somebody has written them into the arrays."""
        for layer in self.layers:
            layer.length += positions

    def take(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Goes on with some of the sequences, each perhaps several times."""
        if self.newest is not None:
            self.newest = self.newest[rows]
        for layer in self.layers:
            layer.take(rows)

    def clear(self) -> None:
        """Forgets all positions; the arrays stay."""
        for layer in self.layers:
            layer.length = 0
