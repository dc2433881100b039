"""The closed list of operations: the contract of each, and one line that finds the engine.

Model code calls operations here and never an engine. An operation enters the list
with a gradient by hand, a proof against finite differences and against PyTorch, and a contract
test that all engines agree in names, parameters and defaults. Axes are those of `tensor`.
"""

from typing import Any

import numpy as np

from clearformer.engines.dispatch import engine_of
from clearformer.engines.polar import STEPS
from clearformer.tensor import Bool, Complex, Float, Int, T, Tensor


def add(a: Float[Tensor, "..."] | float, b: Float[Tensor, "..."] | float) -> Float[Tensor, "..."]:
    """a + b, element by element, with broadcasting; a table of NumPy crosses over to a's engine."""
    return engine_of(a, b).add(a, b)


def multiply(
    a: Float[Tensor, "..."] | float, b: Float[Tensor, "..."] | float
) -> Float[Tensor, "..."]:
    """a · b, element by element, with broadcasting; a plain number keeps the other's type."""
    return engine_of(a, b).multiply(a, b)


def linear(
    x: Float[Tensor, "*lead input"],
    weight: Float[Tensor, "input output"],
    bias: Float[Tensor, " output"] | None = None,
) -> Float[Tensor, "*lead output"]:
    """x W + b on the last axis."""
    return engine_of(x, weight).linear(x, weight, bias)


def linear_pair(
    x: Float[Tensor, "*lead input"],
    first: Float[Tensor, "input first_output"],
    second: Float[Tensor, "input second_output"],
    first_bias: Float[Tensor, " first_output"] | None = None,
    second_bias: Float[Tensor, " second_output"] | None = None,
) -> Float[Tensor, "*lead both_outputs"]:
    """Two linear layers of the same x, their outputs side by side: x [W₁ | W₂] + [b₁ | b₂]."""
    return engine_of(x, first, second).linear_pair(x, first, second, first_bias, second_bias)


def matmul(
    left: Float[Tensor, "*left a b"], right: Float[Tensor, "*right b c"]
) -> Float[Tensor, "*both a c"]:
    """Matrix product on the last two axes; the leading ones broadcast."""
    return engine_of(left, right).matmul(left, right)


def embed(
    ids: Int[Tensor, "*lead"], table: Float[Tensor, "vocab embed"]
) -> Float[Tensor, "*lead embed"]:
    """The rows of `table` at `ids`: the same as one-hot rows times the table."""
    return engine_of(table).embed(ids, table)


def softmax(x: Float[T, "*shape"], axis: int = -1) -> Float[T, "*shape"]:
    """Turns scores into shares that add up to one along `axis`: exp(x) / sum(exp(x)).

    The maximum is subtracted first. Where everything is -inf the shares, and the gradient, are 0.
    """
    return engine_of(x).softmax(x, axis)


def mask_scores(
    scores: Float[Tensor, "*shape"], allowed: Bool[np.ndarray, "..."]
) -> Float[Tensor, "*shape"]:
    """Scores where `allowed` is True, -inf elsewhere."""
    return engine_of(scores).mask_scores(scores, allowed)


def attention(
    query: Float[Tensor, "*lead query width"],
    key: Float[Tensor, "*lead_key key width"],
    value: Float[Tensor, "*lead_value key value_width"],
    *,
    mask: Bool[np.ndarray, "..."] | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "*both query value_width"]:
    """softmax(scale · Q Kᵀ) V with a mask (True: may look), without showing the weights.

    `scale` is 1/√width unless given. A query that may look nowhere gives 0, and gradient 0.
    (Vaswani et al., "Attention Is All You Need", 2017, equation 1.)
    """
    return engine_of(query, key, value).attention(
        query, key, value, mask=mask, causal=causal, scale=scale
    )


def layer_norm(
    x: Float[Tensor, "*lead embed"],
    gain: Float[Tensor, " embed"],
    bias: Float[Tensor, " embed"],
    epsilon: float = 1e-5,
) -> Float[Tensor, "*lead embed"]:
    """(x - mean) / √(variance + ε) · gain + bias along the last axis (Ba et al., 2016)."""
    return engine_of(x, gain, bias).layer_norm(x, gain, bias, epsilon)


def rms_norm(
    x: Float[Tensor, "*lead embed"],
    gain: Float[Tensor, " embed"] | None = None,
    epsilon: float = 1e-6,
) -> Float[Tensor, "*lead embed"]:
    """x / √(mean(x²) + ε) · gain along the last axis (Zhang and Sennrich, 2019, equation 4)."""
    return engine_of(x).rms_norm(x, gain, epsilon)


def squared_relu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """max(x, 0)² (So et al., "Primer", 2021)."""
    return engine_of(x).squared_relu(x)


def gelu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """x/2 (1 + tanh(√(2/π)(x + 0.044715 x³))), the form of GPT-2 (Hendrycks and Gimpel, 2016)."""
    return engine_of(x).gelu(x)


def silu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """x / (1 + exp(-x)), the bend inside SwiGLU (Shazeer, "GLU Variants", 2020)."""
    return engine_of(x).silu(x)


def tanh(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """(exp(x) - exp(-x)) / (exp(x) + exp(-x)), between -1 and 1."""
    return engine_of(x).tanh(x)


def sigmoid(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 / (1 + exp(-x)), between 0 and 1: how far a gate is open."""
    return engine_of(x).sigmoid(x)


def dropout(x: Float[Tensor, "*shape"], keep: Float[np.ndarray, "..."]) -> Float[Tensor, "*shape"]:
    """X · keep; `keep` holds 0 or 1/(1 - rate) and is drawn in NumPy (Srivastava et al., 2014)."""
    return engine_of(x).dropout(x, keep)


def rotate(
    x: Float[Tensor, "*lead seq width"], turn: Complex[np.ndarray, "seq half_width"]
) -> Float[Tensor, "*lead seq width"]:
    """Turns each pair of neighbours (x₂ᵢ, x₂ᵢ₊₁), read as a complex number, by `turn`.

    (Su et al., "RoFormer", 2021, equation 34.)
    """
    return engine_of(x).rotate(x, turn)


def rotate_unit(
    x: Float[Tensor, "*lead seq width"],
    turn: Complex[np.ndarray, "seq half_width"],
    epsilon: float = 1e-6,
) -> Float[Tensor, "*lead seq width"]:
    """Gives each vector root mean square 1, then turns its pairs: rotate(rms_norm(x), turn).

    Both at once because turning keeps lengths: the result is all that the gradient needs.
    """
    return engine_of(x).rotate_unit(x, turn, epsilon)


def split_heads(
    x: Float[Tensor, "*lead seq embed"], heads: int
) -> Float[Tensor, "*lead head seq width"]:
    """Cuts the last axis into `heads` pieces and moves the heads before the positions."""
    return engine_of(x).split_heads(x, heads)


def part_heads(
    x: Float[Tensor, "*lead head seq width"], count: int
) -> tuple[Float[Tensor, "*lead first seq width"], Float[Tensor, "*lead rest seq width"]]:
    """The first `count` heads, and the others."""
    parts: tuple[Any, Any] = engine_of(x).part_heads(x, count)
    return parts


def merge_heads(x: Float[Tensor, "*lead head seq width"]) -> Float[Tensor, "*lead seq embed"]:
    """Puts the heads side by side again: the inverse of `split_heads`."""
    return engine_of(x).merge_heads(x)


def repeat_heads(
    x: Float[Tensor, "*lead head seq width"], times: int
) -> Float[Tensor, "*lead more_heads seq width"]:
    """Each head `times` in a row, for queries that share keys and values (Ainslie et al., 2023)."""
    return engine_of(x).repeat_heads(x, times)


def transpose(x: Float[Tensor, "*lead a b"]) -> Float[Tensor, "*lead b a"]:
    """Swaps the last two axes."""
    return engine_of(x).transpose(x)


def reshape(x: Float[Tensor, "*before"], shape: tuple[int, ...]) -> Float[Tensor, "*after"]:
    """The same numbers in the same order, cut into other axes; one size may be -1: what is left.

    Raises:
        ShapeError: the numbers do not fit into the shape.
    """
    return engine_of(x).reshape(x, shape)


def shift(
    x: Float[Tensor, "*lead seq embed"], before: Float[Tensor, "*lead one embed"] | None = None
) -> Float[Tensor, "*lead seq embed"]:
    """At each position what x has one position earlier; at the first `before`, or zeros."""
    return engine_of(x).shift(x, before)


def rnn(
    x: Float[Tensor, "batch seq input"],
    hidden: Float[Tensor, "batch hidden"],
    weight_input: Float[Tensor, "input hidden"],
    weight_hidden: Float[Tensor, "hidden hidden"],
    bias: Float[Tensor, " hidden"] | None = None,
    *,
    lengths: Int[np.ndarray, " batch"] | None = None,
) -> tuple[Float[Tensor, "batch seq hidden"], Float[Tensor, "batch hidden"]]:
    """h_t = tanh(x_t W + h_{t-1} U + b), from h_0 = `hidden` on (Elman, 1990).

    Args:
        x: what comes in.
        hidden: the state before the first position.
        weight_input: W.
        weight_hidden: U.
        bias: b.
        lengths: how many positions of each sequence are there; None: all. Where a sequence is over,
            its state stays as it was, and outputs are 0.

    Returns:
        The state at each position, and the last one of each sequence.

    Raises:
        ShapeError: the shapes do not fit together, or a length is not 0 … seq.
    """
    return engine_of(x, weight_input, weight_hidden, hidden).rnn(
        x, hidden, weight_input, weight_hidden, bias, lengths=lengths
    )


def lstm(
    x: Float[Tensor, "batch seq input"],
    hidden: Float[Tensor, "batch hidden"],
    cell: Float[Tensor, "batch hidden"],
    weight_input: Float[Tensor, "input four_hidden"],
    weight_hidden: Float[Tensor, "hidden four_hidden"],
    bias: Float[Tensor, " four_hidden"] | None = None,
    *,
    lengths: Int[np.ndarray, " batch"] | None = None,
) -> tuple[
    Float[Tensor, "batch seq hidden"], Float[Tensor, "batch hidden"], Float[Tensor, "batch hidden"]
]:
    """c_t = f c_{t-1} + i g and h_t = o tanh(c_t), with i, f, o = σ(a), g = tanh(a).

    Each a = x_t W + h_{t-1} U + b has its quarter of the columns, in the order i, f, g, o, which is
    PyTorch's. (Hochreiter and Schmidhuber, 1997; the gate f: Gers et al., 2000.)

    Args:
        x: what comes in.
        hidden: the state before the first position.
        cell: the memory before the first position.
        weight_input: W.
        weight_hidden: U.
        bias: b.
        lengths: as in `rnn`; the memory stays as it was, too.

    Returns:
        The state at each position; the last state and the last memory of each sequence.

    Raises:
        ShapeError: the shapes do not fit together, or a length is not 0 … seq.
    """
    return engine_of(x, weight_input, weight_hidden, hidden, cell).lstm(
        x, hidden, cell, weight_input, weight_hidden, bias, lengths=lengths
    )


def gru(
    x: Float[Tensor, "batch seq input"],
    hidden: Float[Tensor, "batch hidden"],
    weight_input: Float[Tensor, "input three_hidden"],
    weight_hidden: Float[Tensor, "hidden three_hidden"],
    bias: Float[Tensor, " three_hidden"] | None = None,
    bias_new: Float[Tensor, " hidden"] | None = None,
    *,
    reset: str = "after",
    lengths: Int[np.ndarray, " batch"] | None = None,
) -> tuple[Float[Tensor, "batch seq hidden"], Float[Tensor, "batch hidden"]]:
    """h_t = (1 - z) n + z h_{t-1}, with r, z = σ(x_t W + h_{t-1} U + b) (Cho et al., 2014).

    What is new is n = tanh(x_t W + b + r (h_{t-1} U + b')) with reset="after", which is PyTorch's,
    or n = tanh(x_t W + b + (r h_{t-1}) U) with reset="before", which is the paper's. The columns
    are in the order r, z, n, each a third.

    Args:
        x: what comes in.
        hidden: the state before the first position.
        weight_input: W.
        weight_hidden: U.
        bias: b.
        bias_new: b', for reset="after" only.
        reset: where the gate r stands: before or after the product with U.
        lengths: as in `rnn`.

    Returns:
        The state at each position, and the last one of each sequence.

    Raises:
        ShapeError: the shapes do not fit together, or a length is not 0 … seq.
        ConfigurationError: `reset` is neither, or there is a b' with "before".
    """
    return engine_of(x, weight_input, weight_hidden, hidden).gru(
        x,
        hidden,
        weight_input,
        weight_hidden,
        bias,
        bias_new,
        reset=reset,
        lengths=lengths,
    )


def cross_entropy(
    logits: Float[Tensor, "*lead vocab"], targets: Int[Tensor, "*lead"], ignore: int = -100
) -> Float[Any, ""]:
    """Mean of -log softmax(logits)[target], in nats per token; `ignore` marks what not to count."""
    return engine_of(logits).cross_entropy(logits, targets, ignore)


def logistic_loss(
    logits: Float[Tensor, "*shape"],
    targets: Bool[Tensor, "*shape"],
    weights: Float[Tensor, "*shape"] | None = None,
) -> Float[Any, ""]:
    """Mean of -log σ(x) where the target is True, of -log σ(-x) elsewhere, in nats.

    With σ(x) = 1/(1 + exp(-x)) and `weights` w the mean is Σ w · loss / Σ w; what weighs 0 has no
    influence. (Mikolov et al., "Distributed Representations of Words", 2013, equation 4.)
    """
    return engine_of(logits).logistic_loss(logits, targets, weights)


def adamw(
    parameters: Float[Tensor, " n"],
    gradients: Float[Tensor, " n"],
    first: Float[Tensor, " n"],
    second: Float[Tensor, " n"],
    *,
    step: int,
    learning_rate: float,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.0,
) -> None:
    """One step of AdamW in place on flat buffers (Loshchilov and Hutter, 2019, algorithm 2)."""
    engine_of(parameters).adamw(
        parameters,
        gradients,
        first,
        second,
        step=step,
        learning_rate=learning_rate,
        beta_1=beta_1,
        beta_2=beta_2,
        epsilon=epsilon,
        decay=decay,
    )


def orthogonalise(
    matrices: Float[Tensor, "*stack rows columns"], steps: int = STEPS
) -> Float[Tensor, "*stack rows columns"]:
    """About the nearest matrix with orthonormal rows (or columns): U Vᵀ where X = U diag(σ) Vᵀ.

    A few polynomials of the matrix take each σ close to 1, and a σ of 0 stays 0 (Newton–Schulz:
    Bernstein and Newhouse, "Old Optimizer, New Norm", 2024; Jordan, "Muon", 2024). Their
    coefficients are those of Amsel et al., "The Polar Express", 2025: with σ measured by the norm
    (Σ σ⁸)^(1/8), those of at least 0.01 come as close to 1 as 0.269 in 3 steps, 0.0125 in 4.
    Smaller ones grow 78 or 153 times. The size of X does not matter. For optimizers: it is not
    recorded and has no gradient.

    Args:
        matrices: one or a stack; each for itself.
        steps: polynomials in a row.

    Raises:
        ShapeError: there are no rows or columns.
        ConfigurationError: no step, or too many.
    """
    return engine_of(matrices).orthogonalise(matrices, steps)
