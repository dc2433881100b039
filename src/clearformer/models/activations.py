"""What a step keeps for its way back: the bytes of activations, by engine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.models.configuration import ModelConfiguration

WIDE = 4
"""Bytes of a float32, the type of the residual stream."""

NARROW = {"float32": 4, "bfloat16": 2}
"""Bytes of the numbers that matrices are multiplied in."""

ID = 8
"""Bytes of a token's id as PyTorch wants it."""


@dataclass(frozen=True)
class Kept:
    """Bytes for each position and unit of size, until the gradient has passed."""

    embed: int
    """In each layer, per number of embed."""
    hidden: int
    """In each layer, per number of hidden."""
    vocabulary: int
    """Per token of the vocabulary, after the last layer."""
    keys: int = 0
    """In each layer, per number of a key: heads that share keys have fewer than embed."""
    head: int = 0
    """In each layer, per head."""
    table: int = 0
    """In each layer, per head and position of the context: a table of scores that is kept whole."""
    row: int = 0
    """In each layer, once."""
    ends: int = 0
    """Per number of embed, before the first layer and after the last."""
    position: int = 0
    """Once."""

    def bytes(self, configuration: "ModelConfiguration", rows: int) -> int:
        """For `rows` sequences of full length at once, in exact integers."""
        c = configuration.completed
        key_value_heads = c.key_value_heads or c.heads
        layer = self.embed * c.embed + self.hidden * (c.hidden or 4 * c.embed) + self.row
        layer += self.keys * key_value_heads * (c.embed // c.heads)
        layer += c.heads * (self.head + self.table * c.context)
        position = c.layers * layer + self.ends * c.embed + self.vocabulary * c.vocabulary
        return rows * c.context * (position + self.position)


NUMPY = Kept(embed=24 * WIDE, hidden=4 * WIDE, table=3 * WIDE, vocabulary=3 * WIDE)
"""Everything that is alive at once on a tape of NumPy's, at most (an estimate; see `memory`)."""


def kept_by_torch(configuration: "ModelConfiguration", precision: str, on_gpu: bool) -> Kept:
    """What PyTorch saves for the backward pass of our model, operation by operation.

    A test compares it with what autograd really saves on a processor. In float32 a GPU saves the
    same, but where queries are normalised: see below. In bfloat16 a processor makes
    wide copies for attention and for the norm of queries and keys; a GPU works on the narrow ones,
    as PyTorch's sources say: that was not measured.

    For comparison: 34 bytes · embed per position and layer, the score table left out (Korthikanti
    et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, equation 1), is
    the same count for GPT-3's layer with everything, its residual stream too, in 16 bits.
    """
    c = configuration.completed
    narrow = NARROW[precision]
    is_cast, gated = narrow < WIDE, c.activation == "swiglu"
    at_scores = narrow if on_gpu else WIDE
    attention = (3 if is_cast else 1) * narrow  # the norm's result, cast for each of three matrices
    attention += 4 * at_scores  # query, key, value, mixed
    # in float32 a processor's norm, turning included, saves its result: that is the query
    apart = bool(c.query_key_norm) and (on_gpu or is_cast)
    if apart:
        attention += at_scores  # what the query's norm saves; of the key, see `keys`
    # keys lie beside the queries, and stay with them after they were repeated for several heads
    beside = c.key_value_heads not in (None, c.heads) and (on_gpu or not is_cast)
    if at_scores != narrow:
        attention += narrow  # mixed, made narrow again
    feed_forward = (2 if is_cast and gated else 1) * narrow
    dropped = 2 * narrow if c.dropout else 0
    statistics = WIDE if c.norm == "rms" else 2 * WIDE
    return Kept(
        embed=2 * WIDE + attention + feed_forward + dropped,  # with the inputs of two norms
        hidden=(4 if gated else 2) * narrow,
        keys=at_scores * (apart + beside),
        head=WIDE * (3 if c.query_key_norm else 1),  # sums of softmax; sizes of query and key
        row=2 * statistics,
        ends=WIDE * (1 + bool(c.token_shift) + bool(c.dropout)) + narrow,
        vocabulary=WIDE,
        position=statistics + 2 * ID,
    )
