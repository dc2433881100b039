"""What kind of model it is, as far as the words of an explanation depend on it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clearformer import ops
from clearformer.explanation.subject import Subject
from clearformer.models.decoder import Decoder
from clearformer.models.embedding import ScaledEmbedding, TiedOutput
from clearformer.models.encoder.model import Encoder
from clearformer.models.feed_forward import FeedForward
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm
from clearformer.models.positions import RotaryPositions, SinusoidalPositions
from clearformer.models.recurrent.layers import (
    GRULayer,
    LSTMLayer,
    ResetFirstGRULayer,
    RNNLayer,
)
from clearformer.models.recurrent.model import RecurrentModel
from clearformer.models.token_shift import TokenShift


@dataclass(frozen=True)
class CommonFacts:
    """Sizes and pieces of every kind of model, read from the model itself."""

    tokenizer: str
    vocabulary: int
    embed: int
    hidden: int
    layers: int
    heads: int
    scaled: bool
    """Whether embedding rows are multiplied with √embed."""
    tied: bool
    trained: bool
    ahead: int
    """How far ahead of a token its prediction is: 1 for the next token, 0 for the token itself."""


@dataclass(frozen=True)
class RecurrentFacts(CommonFacts):
    """Of a recurrent model."""

    cell: str
    """rnn, lstm or gru."""
    reset: str
    """Of a GRU: after or before the product with the state."""


@dataclass(frozen=True)
class Facts(CommonFacts):
    """Of a decoder or an encoder."""

    width: int
    positions: int | None
    """Rows of the sinusoidal table; None for a model that turns queries and keys."""
    shifted: bool
    """Whether each token's vector takes along a share of the one before."""
    norm: str | None
    """layer, rms or None."""
    query_key_norm: bool
    largest_score: float | None
    """Of normalised queries and keys, where it is set; then products are multiplied by it over the
    width."""
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


def facts_of(subject: Subject) -> Any:
    """Reads the facts off the model: an instance of the class of its kind."""
    return _READERS[type(subject.model)](subject)


def _of_decoder(subject: Subject) -> Facts:
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
        shifted=isinstance(model.shift, TokenShift),
        norm="layer" if isinstance(block.norm_1, LayerNorm) else norm,
        query_key_norm=not isinstance(attention.norm, Unchanged),
        largest_score=(
            None if attention.scale is None else attention.scale * (embed // attention.heads)
        ),
        rotary=isinstance(attention.positions, RotaryPositions),
        shared=isinstance(attention.query, Unchanged),
        projected=not isinstance(attention.output, Unchanged),
        key_value_heads=attention.key_value_heads,
        bias=feed_forward.expand.bias is not None,
        activation=_activation(feed_forward),
        causal=attention.causal,
        trained=subject.path is not None,
        ahead=1,
    )


def _of_encoder(subject: Subject) -> Facts:
    """The mask is none of the vocabulary."""
    facts = _of_decoder(subject)
    return replace(facts, vocabulary=facts.vocabulary - 1, ahead=0)


def _of_recurrent(subject: Subject) -> RecurrentFacts:
    model = subject.model
    return RecurrentFacts(
        tokenizer=subject.tokenizer.kind,
        vocabulary=subject.tokenizer.vocabulary_size,
        embed=int(model.embedding.table.shape[-1]),
        hidden=int(model.layers[0].weight_hidden.shape[0]),
        layers=len(model.layers),
        heads=0,
        scaled=isinstance(model.embedding, ScaledEmbedding),
        tied=isinstance(model.output, TiedOutput),
        trained=subject.path is not None,
        ahead=1,
        cell=_CELLS[type(model.layers[0])],
        reset="before" if isinstance(model.layers[0], ResetFirstGRULayer) else "after",
    )


_CELLS: Mapping[type, str] = {
    RNNLayer: "rnn",
    LSTMLayer: "lstm",
    GRULayer: "gru",
    ResetFirstGRULayer: "gru",
}

_READERS: Mapping[type, Callable[[Subject], CommonFacts]] = {
    Decoder: _of_decoder,
    Encoder: _of_encoder,
    RecurrentModel: _of_recurrent,
}


def _activation(feed_forward: object) -> str:
    if not isinstance(feed_forward, FeedForward):
        return "swiglu"
    return "gelu" if feed_forward.activation is ops.gelu else "squared_relu"
