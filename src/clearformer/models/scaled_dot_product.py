"""Attention itself: the exercise in the heart of it, whole or one step at a time."""

from math import sqrt
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.engines.mask import allowed_positions
from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.tap import Recorder, Tap, silent
from clearformer.tensor import Bool, Float, Tensor


def attention(
    query: Float[Tensor, "*lead query width"],
    key: Float[Tensor, "*lead_key key width"],
    value: Float[Tensor, "*lead_value key value_width"],
    *,
    mask: Bool[np.ndarray, "..."] | None = None,
    causal: bool = False,
    scale: float | None = None,
    return_weights: bool = False,
) -> Any:
    """softmax(Q Kᵀ · scale) V: each query takes a weighted mean of the values.

    Args:
        query: what each position looks for.
        key: what each position offers to be found by; any leading axes, which broadcast.
        value: what each position gives when it is looked at.
        mask: True where looking is allowed; broadcast to (…, query, key).
        causal: position i sees the positions 0 … i only.
        scale: 1/√width unless given.
        return_weights: also return the weights, (…, query, key), whose rows sum to 1.

    Returns:
        The mixed values (…, query, value_width), or a pair of these and the weights. A query that
        may look nowhere gets zeros, and gradient zero.

    Raises:
        ShapeError: if the axes do not fit together.
        ConfigurationError: if the mask is not boolean.

    Source: Vaswani et al., "Attention Is All You Need", 2017, equation 1 (width is their d_k).
    """
    query, key, value = _table("query", query), _table("key", key), _table("value", value)
    mask = None if mask is None else np.asarray(mask)
    _check(query, key, value, mask)
    if not return_weights:
        return ops.attention(query, key, value, mask=mask, causal=causal, scale=scale)
    listener = Recorder()
    allowed = allowed_positions(query.shape[-2], key.shape[-2], mask, causal)
    mixed = steps(query, key, value, allowed, scale, listener)
    return mixed, listener.seen["weights"]


def steps(
    query: Float[Tensor, "*lead query width"],
    key: Float[Tensor, "*lead_key key width"],
    value: Float[Tensor, "*lead_value key value_width"],
    allowed: Bool[np.ndarray, "..."] | None,
    scale: float | None,
    tap: Tap,
) -> Float[Tensor, "*both query value_width"]:
    """The same computation as `ops.attention`, one named step after another."""
    products = tap("products", ops.matmul(query, ops.transpose(key)))
    factor = 1 / sqrt(query.shape[-1]) if scale is None else scale
    scores = tap("scores", ops.multiply(products, factor))
    if allowed is not None:
        scores = tap("masked_scores", ops.mask_scores(scores, allowed))
    weights = tap("weights", ops.softmax(scores))
    return tap("mixed", ops.matmul(weights, value))


def attend(
    query: Float[Tensor, "*lead query width"],
    key: Float[Tensor, "*lead_key key width"],
    value: Float[Tensor, "*lead_value key value_width"],
    mask: Bool[np.ndarray, "..."] | None,
    causal: bool,
    tap: Tap,
    scale: float | None = None,
) -> Float[Tensor, "*both query value_width"]:
    """The fast path when nobody listens, the step-by-step path when somebody does."""
    if tap is silent:
        return ops.attention(query, key, value, mask=mask, causal=causal, scale=scale)
    allowed = allowed_positions(query.shape[-2], key.shape[-2], mask, causal)
    return steps(query, key, value, allowed, scale, tap)


def self_attention(
    X: Float[Tensor, "*lead seq embed"],
    W_Q: Float[Tensor, "embed width"],
    W_K: Float[Tensor, "embed width"],
    W_V: Float[Tensor, "embed value_width"],
    causal: bool = False,
) -> tuple[Float[Any, "*lead seq value_width"], Float[Any, "*lead query key"]]:
    """Attention of a sequence to itself: softmax(X W_Q (X W_K)ᵀ / √width) X W_V.

    Returns:
        The output (…, seq, value_width) and the weights (…, query, key).

    Raises:
        ShapeError: if the axes do not fit together.

    >>> import numpy as np, clearformer as cf
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> W_Q, W_K, W_V = np.diag([1.0, 2.0]), np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2)
    >>> output, weights = cf.self_attention(X, W_Q, W_K, W_V)
    >>> weights.round(3).tolist()
    [[0.401, 0.198, 0.401], [0.164, 0.164, 0.673], [0.178, 0.088, 0.734]]
    """
    X, W_Q, W_K, W_V = _table("X", X), _table("W_Q", W_Q), _table("W_K", W_K), _table("W_V", W_V)
    for name, matrix in (("W_Q", W_Q), ("W_K", W_K), ("W_V", W_V)):
        if matrix.ndim != 2 or matrix.shape[0] != X.shape[-1]:
            raise ShapeError(
                f"{name} must have one row for each of the {X.shape[-1]} columns of X; "
                f"got X {tuple(X.shape)} and {name} {tuple(matrix.shape)}"
            )
    query, key, value = ops.linear(X, W_Q), ops.linear(X, W_K), ops.linear(X, W_V)
    result: tuple[Any, Any] = attention(query, key, value, causal=causal, return_weights=True)
    return result


def _table(name: str, x: Any) -> Any:
    """`x` itself; whole numbers, as in a worked example, become float64."""
    if not isinstance(x, Tensor):
        raise ShapeError(
            f"{name} must be an array, got {type(x).__name__}; wrap lists with numpy.array(...)"
        )
    if x.ndim < 2:
        raise ShapeError(f"{name} must have a position and a width axis; got {tuple(x.shape)}")
    if isinstance(x, np.ndarray) and x.dtype.kind not in "biuf":
        raise ShapeError(f"{name} must hold real numbers; got {x.dtype}")
    if isinstance(x, np.ndarray) and x.dtype.kind in "biu":
        return x.astype(np.float64)
    return x


def _check(query: Any, key: Any, value: Any, mask: Any) -> None:
    if query.shape[-1] != key.shape[-1]:
        raise ShapeError(
            "query and key must have the same width (last axis); "
            f"got query {tuple(query.shape)}, key {tuple(key.shape)}"
        )
    if not query.shape[-1]:
        raise ShapeError(f"query and key need a width of at least 1; got {tuple(query.shape)}")
    if key.shape[-2] != value.shape[-2]:
        raise ShapeError(
            "key and value must have as many positions (the axis before the last); "
            f"got key {tuple(key.shape)}, value {tuple(value.shape)}"
        )
    try:
        lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
        np.broadcast_shapes(lead, value.shape[:-2])
    except ValueError:
        raise ShapeError(
            "the leading axes of query, key and value must be equal, or 1; "
            f"got query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}"
        ) from None
    if mask is None:
        return
    scores = (*lead, query.shape[-2], key.shape[-2])
    if not _fits(mask.shape, scores):
        raise ShapeError(
            f"mask must fit the scores (…, query, key) = {scores}; got {tuple(mask.shape)}"
        )
    if mask.dtype != np.bool_:
        raise ConfigurationError(
            f"mask must be boolean, True where looking is allowed; got {mask.dtype}; "
            "for an array of 0 and 1 use mask.astype(bool)"
        )


def _fits(shape: tuple[int, ...], scores: tuple[int, ...]) -> bool:
    """Whether a mask of `shape` can be repeated to that of the scores."""
    tail = scores[len(scores) - len(shape) :]
    return len(shape) <= len(scores) and all(
        size in (1, wanted) for size, wanted in zip(shape, tail, strict=True)
    )
