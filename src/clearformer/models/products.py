"""The matrix products of one training step: nearly all of its work."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.models.configuration import ModelConfiguration

Shape = tuple[int, int, int, int]
"""(how many, rows, inner, columns): so many products of rows × inner with inner × columns."""


def matrices(configuration: "ModelConfiguration") -> list[tuple[int, int]]:
    """(inputs, outputs) of every matrix that multiplies.

    A table of embeddings that only gives out its rows is not among them; a tied one is.
    """
    c = configuration.completed
    return [*_in_layer(c) * c.layers, (c.embed, c.vocabulary)]


def product_shapes(configuration: "ModelConfiguration", batch: int) -> Iterator[Shape]:
    """Every product of a step on `batch` sequences of full length.

    For each Y = X W forwards there are two backwards: dX = dY Wᵀ and dW = Xᵀ dY. The score table
    counts in full, although half of it is masked, and once forwards, although attention that does
    not keep it forms it again on the way back.
    """
    c = configuration.completed
    rows, width, tables = batch * c.context, c.embed // c.heads, batch * c.heads
    layer = [
        *[(1, rows, *matrix) for matrix in _in_layer(c)],
        (tables, c.context, width, c.context),
        (tables, c.context, c.context, width),
    ]
    for many, m, k, n in [*layer * c.layers, (1, rows, c.embed, c.vocabulary)]:
        yield from ((many, m, k, n), (many, m, n, k), (many, k, m, n))


def step_flops(configuration: "ModelConfiguration", batch: int) -> int:
    """Multiplications and additions in these products, in exact integers.

    Per token that is 6 N + 12 · layers · context · embed, with N the numbers in `matrices`: 2 N
    forwards and 4 N backwards (Kaplan et al., "Scaling Laws for Neural Language Models", 2020,
    section 2.1), and two products with the score table, 4 · context · embed for each layer forwards
    and twice that backwards (Chowdhery et al., "PaLM", 2022, appendix B: 6 N + 12 L H Q T, whose
    H Q is our embed and T our context).
    """
    return sum(2 * many * m * k * n for many, m, k, n in product_shapes(configuration, batch))


def _in_layer(c: "ModelConfiguration") -> list[tuple[int, int]]:
    hidden = c.hidden or 4 * c.embed
    shared = c.embed // c.heads * (c.key_value_heads or c.heads)
    attention = [(c.embed, c.embed), (c.embed, shared), (c.embed, shared), (c.embed, c.embed)]
    expanding = [(c.embed, hidden)] * (2 if c.activation == "swiglu" else 1)
    return [*attention, *expanding, (hidden, c.embed)]
