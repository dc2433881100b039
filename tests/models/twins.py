"""The decoder once more, as somebody would write it in PyTorch: functions of named parameters."""

from math import sqrt

import torch
from torch import Tensor
from torch.nn import functional

from clearformer.models.configuration import ModelConfiguration

Parameters = dict[str, Tensor]


def logits(
    configuration: ModelConfiguration, p: Parameters, ids: Tensor, causal: bool = True
) -> Tensor:
    """(batch, seq) ids → (batch, seq, vocab) scores."""
    c = configuration.completed
    table = p["embedding.table"]
    x = table[ids]
    if c.tied or c.positions == "sinusoidal":
        x = x * sqrt(c.embed)
    if c.token_shift:
        x = x + p["shift.share"] * torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), 1)
    if c.positions == "sinusoidal":
        x = x + waves(ids.shape[1], c.embed).to(x.dtype)
    for n in range(c.layers):
        block = f"blocks.{n}"
        x = x + _attention(c, p, f"{block}.attention", _norm(c, p, f"{block}.norm_1", x), causal)
        x = x + _feed_forward(c, p, f"{block}.feed_forward", _norm(c, p, f"{block}.norm_2", x))
    x = _norm(c, p, "norm", x)
    return x @ (table[: c.vocabulary].T if c.tied else p["output.linear.weight"])


def waves(length: int, embed: int) -> Tensor:
    """The table of sinusoidal positions."""
    table = torch.zeros(length, embed, dtype=torch.float64)
    for i in range(0, embed, 2):
        angle = torch.arange(length, dtype=torch.float64) / 10_000 ** (i / embed)
        table[:, i] = angle.sin()
        table[:, i + 1] = angle.cos()
    return table


def turned(x: Tensor) -> Tensor:
    """(…, seq, width): the j-th pair of position p is turned by p / 10000^(2j/width)."""
    seq, width = x.shape[-2:]
    place = torch.arange(seq, dtype=torch.float64)[:, None]
    angle = place * 10_000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


def _linear(p: Parameters, name: str, x: Tensor) -> Tensor:
    result = x @ p[f"{name}.weight"]
    return result + p[f"{name}.bias"] if f"{name}.bias" in p else result


def _norm(c: ModelConfiguration, p: Parameters, name: str, x: Tensor) -> Tensor:
    if c.norm == "rms":
        return functional.rms_norm(x, (c.embed,), p[f"{name}.gain"], 1e-6)
    return functional.layer_norm(x, (c.embed,), p[f"{name}.gain"], p[f"{name}.bias"], 1e-5)


def _attention(c: ModelConfiguration, p: Parameters, name: str, x: Tensor, causal: bool) -> Tensor:
    batch, seq, _ = x.shape
    width = c.embed // c.heads

    def heads(part: str) -> Tensor:
        return _linear(p, f"{name}.{part}", x).reshape(batch, seq, -1, width).transpose(1, 2)

    query, key, value = heads("query"), heads("key"), heads("value")
    if c.query_key_norm:
        query, key = (functional.rms_norm(each, (width,), eps=1e-6) for each in (query, key))
    if c.positions == "rotary":
        query, key = turned(query), turned(key)
    mixed = functional.scaled_dot_product_attention(
        query, key, value, is_causal=causal, enable_gqa=True, scale=_scale(c)
    )
    return _linear(p, f"{name}.output", mixed.transpose(1, 2).reshape(batch, seq, c.embed))


def _scale(c: ModelConfiguration) -> float | None:
    """Normalised vectors have a product of at most their width; it becomes the largest score."""
    width = c.embed // c.heads
    return c.largest_score / width if c.query_key_norm and c.largest_score else None


def _feed_forward(c: ModelConfiguration, p: Parameters, name: str, x: Tensor) -> Tensor:
    hidden = _linear(p, f"{name}.expand", x)
    if c.activation == "swiglu":
        hidden = functional.silu(_linear(p, f"{name}.gate", x)) * hidden
    elif c.activation == "gelu":
        hidden = functional.gelu(hidden, approximate="tanh")
    else:
        hidden = hidden.relu() ** 2
    return _linear(p, f"{name}.project", hidden)
