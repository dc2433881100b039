"""What must fit before anything is computed: ids, targets, masks and what a recurrence takes."""

from math import prod

import numpy as np

from clearformer.errors import ConfigurationError, ShapeError

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


def check_answers(targets: np.ndarray, weights: np.ndarray | None, logits: Shape) -> None:
    """There is one answer, yes or no, for each logit, and one weight if there are any.

    Raises:
        ShapeError: if the targets or the weights have another shape, or the targets another type.
    """
    if targets.shape != logits or targets.dtype != np.bool_:
        raise ShapeError(
            f"targets must be True or False for each logit, of shape {logits}; "
            f"got {targets.dtype} of shape {targets.shape}"
        )
    if weights is not None and np.shape(weights) != logits:
        raise ShapeError(
            f"weights must be one for each logit, of shape {logits}; got {np.shape(weights)}"
        )


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


def check_reshape(before: Shape, after: Shape) -> None:
    """As many numbers fit into the new shape as into the old; one size may be -1: what is left.

    Raises:
        ShapeError: if they do not.
    """
    known = prod(size for size in after if size != -1)
    fits = prod(before) == known
    if -1 in after:
        fits = known > 0 and prod(before) % known == 0 and after.count(-1) == 1
    if not fits or min(after, default=0) < -1:
        raise ShapeError(
            f"a new shape must hold the {prod(before)} numbers of {tuple(before)}; "
            f"got {tuple(after)}"
        )


AXES = {
    "hidden": "(batch, hidden)",
    "cell": "(batch, hidden)",
    "weight_input": "(input, gates·hidden)",
    "weight_hidden": "(hidden, gates·hidden)",
    "bias": "(gates·hidden)",
    "bias_new": "(hidden)",
}
"""Of what a recurrent operation takes beside x."""


def check_recurrence(gates: int, lengths: np.ndarray | None, x: Shape, **shapes: Shape) -> None:
    """The states, weights and biases (their shapes) of a recurrent operation fit x and each other.

    Args:
        gates: how many products a cell has.
        lengths: whole numbers (batch), 0 … seq, or None.
        x: the shape (batch, seq, input).
        shapes: of everything in `AXES` that is there.

    Raises:
        ShapeError: if something does not fit.
    """
    if len(x) != 3:
        raise ShapeError(f"x must be (batch, seq, input); got {tuple(x)}")
    batch, seq, width = x
    hidden = shapes["weight_hidden"][0] if shapes["weight_hidden"] else 0
    sizes = {"batch": batch, "input": width, "hidden": hidden, "gates·hidden": gates * hidden}
    for name, found in shapes.items():
        wanted = tuple(sizes[axis] for axis in AXES[name][1:-1].split(", "))
        if tuple(found) != wanted:
            raise ShapeError(
                f"{name} must be {AXES[name]} = {wanted}, with x {tuple(x)}, "
                f"{gates} gates and {hidden} hidden; got {tuple(found)}"
            )
    if lengths is None:
        return
    if lengths.shape != (batch,) or lengths.dtype.kind not in "iu":
        raise ShapeError(
            f"lengths must be one whole number for each of {batch} sequences; "
            f"got {lengths.dtype} of shape {lengths.shape}"
        )
    if batch and not 0 <= lengths.min() <= lengths.max() <= seq:
        raise ShapeError(
            f"lengths must be 0 … {seq}, the positions of x; got {lengths.min()} … {lengths.max()}"
        )


def check_reset(reset: str, bias_new: object) -> None:
    """Where the reset gate of a GRU stands, and that a bias behind it has its place.

    Raises:
        ConfigurationError: if there is no such place.
    """
    if reset not in ("after", "before"):
        raise ConfigurationError(f'reset must be "after" or "before"; got {reset!r}')
    if reset == "before" and bias_new is not None:
        raise ConfigurationError(
            'bias_new must be None with reset="before", where nothing is reset after the product; '
            "add it to the last third of bias"
        )
