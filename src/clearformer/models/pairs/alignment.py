"""How a recurrent decoder looks back at the source: by a product, or by a small network.

Both look after the recurrent layers, from their newest state h_t, as Luong et al. do: so all
positions of a known target are computed at once. Bahdanau et al. look from h_{t-1}, before.
"""

from dataclasses import dataclass

from clearformer import ops
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.pairs.memory import Memory
from clearformer.models.part import Part
from clearformer.models.scaled_dot_product import attend
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class DotAttention(Part):
    """score(h, e) = h · e / √hidden, c = Σ softmax(score) e, tanh(W [c; h]).

    (Luong et al., "Effective Approaches to Attention-based Neural Machine Translation", 2015,
    equations 5 and 8, first line; h is their h_t, e their h̄_s. Divided by √hidden as in Vaswani et
    al., 2017: without that, states soon are so large that each look falls on one place, and
    learning stalls.)
    """

    from_source: Linear
    """The rows of W that c is multiplied with."""
    from_state: Linear
    """The rows of W that h is multiplied with."""

    def __call__(
        self, x: Float[Tensor, "batch target hidden"], memory: Memory, tap: Tap = silent
    ) -> Float[Tensor, "batch target hidden"]:
        """Each state together with what it has found in the source."""
        query, key = tap("query", x), tap("key", memory.outputs)
        mixed = attend(query, key, key, memory.there, causal=False, tap=tap)
        return tap("output", ops.tanh(self.from_source(mixed) + self.from_state(x)))


@dataclass(frozen=True)
class AdditiveAttention(Part):
    """score(h, e) = v · tanh(W h + U e), the rest as with the product.

    (Bahdanau et al., "Neural Machine Translation by Jointly Learning to Align and Translate", 2015,
    appendix A.1.2; e is their h_j.)
    """

    query: Linear
    """W."""
    key: Linear
    """U."""
    score: Linear
    """V, as a matrix of one column."""
    from_source: Linear
    from_state: Linear

    def __call__(
        self, x: Float[Tensor, "batch target hidden"], memory: Memory, tap: Tap = silent
    ) -> Float[Tensor, "batch target hidden"]:
        """Each state together with what it has found in the source."""
        batch, target, source = x.shape[0], x.shape[1], memory.outputs.shape[1]
        query, key = tap("query", self.query(x)), tap("key", self.key(memory.outputs))
        width = query.shape[-1]
        both = ops.reshape(query, (batch, target, 1, width)) + ops.reshape(
            key, (batch, 1, source, width)
        )
        scores = ops.reshape(self.score(ops.tanh(both)), (batch, target, source))
        scores = tap("scores", scores)
        if memory.there is not None:
            scores = tap("masked_scores", ops.mask_scores(scores, memory.there))
        mixed = tap("mixed", ops.matmul(tap("weights", ops.softmax(scores)), memory.outputs))
        return tap("output", ops.tanh(self.from_source(mixed) + self.from_state(x)))


Alignment = DotAttention | AdditiveAttention | Unchanged
"""Unchanged: the decoder never looks back; it knows what the encoder's last state holds."""
