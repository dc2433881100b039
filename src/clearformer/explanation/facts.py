"""What kind of model it is, as far as the words of an explanation depend on it."""

from dataclasses import dataclass

from clearformer import ops
from clearformer.explanation.subject import Subject
from clearformer.models.embedding import ScaledEmbedding, TiedOutput
from clearformer.models.feed_forward import FeedForward
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm
from clearformer.models.positions import RotaryPositions, SinusoidalPositions


@dataclass(frozen=True)
class Facts:
    """Sizes and pieces, read from the model itself."""

    tokenizer: str
    vocabulary: int
    embed: int
    heads: int
    width: int
    hidden: int
    layers: int
    positions: int | None
    """Rows of the sinusoidal table; None for a model that turns queries and keys."""
    scaled: bool
    """Whether embedding rows are multiplied with √embed."""
    tied: bool
    norm: str | None
    """layer, rms or None."""
    query_key_norm: bool
    rotary: bool
    shared: bool
    """Whether query, key and value are taken as they are."""
    projected: bool
    """Whether the merged heads pass through a matrix."""
    key_value_heads: int
    bias: bool
    activation: str
    """gelu, squared_relu or swiglu."""
    causal: bool
    trained: bool


def facts_of(subject: Subject) -> Facts:
    """Reads the facts off the model."""
    model = subject.model
    block = model.blocks[0]
    attention, feed_forward = block.attention, block.feed_forward
    embed = int(model.embedding.table.shape[-1])
    norm = None if isinstance(block.norm_1, Unchanged) else "rms"
    return Facts(
        tokenizer=subject.tokenizer.kind,
        vocabulary=subject.tokenizer.vocabulary_size,
        embed=embed,
        heads=attention.heads,
        width=embed // attention.heads,
        hidden=int(feed_forward.expand.weight.shape[-1]),
        layers=len(model.blocks),
        positions=(
            model.positions.length if isinstance(model.positions, SinusoidalPositions) else None
        ),
        scaled=isinstance(model.embedding, ScaledEmbedding),
        tied=isinstance(model.output, TiedOutput),
        norm="layer" if isinstance(block.norm_1, LayerNorm) else norm,
        query_key_norm=not isinstance(attention.norm, Unchanged),
        rotary=isinstance(attention.positions, RotaryPositions),
        shared=isinstance(attention.query, Unchanged),
        projected=not isinstance(attention.output, Unchanged),
        key_value_heads=attention.key_value_heads,
        bias=feed_forward.expand.bias is not None,
        activation=_activation(feed_forward),
        causal=attention.causal,
        trained=subject.path is not None,
    )


def _activation(feed_forward: object) -> str:
    if not isinstance(feed_forward, FeedForward):
        return "swiglu"
    return "gelu" if feed_forward.activation is ops.gelu else "squared_relu"
