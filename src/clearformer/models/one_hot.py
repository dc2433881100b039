"""A token as a row of zeros with a single one."""

from typing import Any

import numpy as np

from clearformer.engines.bounds import check_ids
from clearformer.tensor import Float, Int


def one_hot(
    ids: Int[np.ndarray, "*lead"], vocabulary: int, dtype: Any = np.float32
) -> Float[np.ndarray, "*lead vocab"]:
    """Rows of zeros, each with a one at its id.

    Times a table of embeddings it gives what `ops.embed` looks up: each zero takes away a row of
    the table, and the one leaves one. So an embedding is a linear layer whose input is one-hot, and
    looking up saves the product.

    Args:
        ids: of tokens.
        vocabulary: how many tokens there are.
        dtype: of the numbers.

    Raises:
        ShapeError: an id is not in 0 … vocabulary - 1.
    """
    ids = np.asarray(ids)
    check_ids(ids, vocabulary)
    rows = np.zeros((*ids.shape, vocabulary), dtype)
    np.put_along_axis(rows, ids[..., None].astype(np.intp), 1, -1)
    return rows
