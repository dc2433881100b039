"""What must fit before anything is looked up: ids, targets and masks, in NumPy for every engine."""

import numpy as np

from clearformer.errors import ShapeError

Shape = tuple[int, ...]


def check_ids(ids: np.ndarray, vocab: int) -> None:
    """Each id names a row of the table; a negative one would silently be counted from the end.

    Raises:
        ShapeError: if one does not.
    """
    if ids.size and not 0 <= ids.min() <= ids.max() < vocab:
        raise ShapeError(f"ids must be 0 … {vocab - 1}; got {ids.min()} … {ids.max()}")


def counted_targets(targets: np.ndarray, logits: Shape, ignore: int) -> np.ndarray:
    """Which targets count: a flat table, True where the target is not `ignore`.

    Args:
        targets: whole numbers, one for each row of the logits.
        logits: the shape (…, vocab) of the logits.
        ignore: the target that marks what does not count.

    Raises:
        ShapeError: if the targets have another shape or type, or one is outside the vocabulary.
    """
    if targets.shape != logits[:-1] or targets.dtype.kind not in "iu":
        raise ShapeError(
            f"targets must be one token id for each row of the logits, whole numbers of shape "
            f"{logits[:-1]}; got {targets.dtype} of shape {targets.shape}"
        )
    wanted = targets.reshape(-1)
    counted = wanted != ignore
    known = wanted if counted.all() else wanted[counted]
    if known.size and not 0 <= known.min() <= known.max() < logits[-1]:
        raise ShapeError(
            f"targets must be 0 … {logits[-1] - 1}, or {ignore} for what does not count; "
            f"got {known.min()} … {known.max()}"
        )
    return counted


def check_mask(mask: Shape, scores: Shape) -> None:
    """A mask (its shape) has no axes that the scores (…, query, key) lack: it would repeat them.

    Raises:
        ShapeError: if it has, or if its sizes are others.
    """
    fits = len(mask) <= len(scores) and all(
        size in (1, wanted) for size, wanted in zip(mask[::-1], scores[::-1], strict=False)
    )
    if not fits:
        raise ShapeError(f"a mask must fit the scores, (…, query, key) = {scores}; got mask {mask}")
