"""Which key positions a query may look at: boolean tables, True where looking is allowed.

They need no gradient, so they are made in NumPy for every engine.
"""

from functools import lru_cache

import numpy as np

from clearformer.engines.bounds import check_mask


@lru_cache(maxsize=32)
def causal_mask(query: int, key: int) -> np.ndarray:
    """(query, key) table in which position i sees the positions 0 … i.

    When there are more keys than queries the table starts at the first key, as in PyTorch.
    """
    table = np.tri(query, key, dtype=bool)
    table.flags.writeable = False
    return table


def allowed_positions(
    query: int, key: int, mask: np.ndarray | None, causal: bool
) -> np.ndarray | None:
    """The mask and the causal rule together; None when everything may be seen."""
    if not causal:
        return mask
    table = causal_mask(query, key)
    if mask is None:
        return table
    check_mask(mask.shape[-2:], table.shape)
    return table & mask
