"""The same decoder in plain PyTorch, eager, as a good PyTorch user would write it.

Where PyTorch offers several ways, the one that was fastest on a processor is taken, so that the
peer is not held back: one matrix for query, key and value; `F.rms_norm`; positions turned as
complex numbers before the heads are moved; fused attention; AdamW with `fused=True`; the norm of
the gradient with `foreach=True`.

Needs PyTorch: `pip install torch`.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from clearformer.generation.generate import window_start
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.optimizers import AdamWSettings

RMS_EPSILON = 1e-6  # that of clearformer's rms_norm
BASE = 10_000.0


class Decoder(nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
    """A decoder of one of the two recipes, `modern` or `classic`, with an output of its own."""

    def __init__(self, configuration: ModelConfiguration, dtype: torch.dtype = torch.float32):
        super().__init__()
        c = configuration.completed
        self.context, self.embed, self.modern = c.context, c.embed, c.recipe == "modern"
        self.embedding = nn.Embedding(c.vocabulary, c.embed)
        self.share = nn.Parameter(torch.zeros(c.embed)) if c.token_shift else None
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.norm = norm_of(c)
        self.output = nn.Linear(c.embed, c.vocabulary, bias=False)
        positions = turns(c.context, c.embed // c.heads) if self.modern else waves(c)
        self.register_buffer("positions", positions, persistent=False)
        self.to(dtype)

    def forward(self, ids: Tensor, cache: "Cache | None" = None) -> Tensor:
        """Logits (batch, seq, vocab) for ids (batch, seq)."""
        start = cache.length if cache else 0
        positions = self.positions[start : start + ids.shape[1]]
        x = self.embedding(ids)
        if self.modern:
            positions = torch.view_as_complex(positions)[:, None]
        else:
            x = x * sqrt(self.embed)
        if self.share is not None:
            x = x + self.share * self.tokens_before(x, cache)
        if not self.modern:
            x = x + positions
        for number, block in enumerate(self.blocks):
            x = block(x, positions, cache.layers[number] if cache else None)
        if cache:
            cache.length += ids.shape[1]
        return self.output(self.norm(x))

    def tokens_before(self, x: Tensor, cache: "Cache | None") -> Tensor:
        """At each position the vector of the one before; zeros at the first."""
        before = functional.pad(x[:, :-1], (0, 0, 1, 0))
        if cache:
            if cache.length:
                before[:, 0] = cache.newest
            cache.newest = x[:, -1]
        return before

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def load_from(self, model: Any) -> None:
        """Takes over the weights of a `clearformer.models.decoder.Decoder`."""
        weights = model.parameters()
        counterparts = self.under_our_names(lambda parameter: parameter.data)
        if weights.keys() != counterparts.keys():
            odd = ", ".join(sorted(weights.keys() ^ counterparts.keys()))
            raise ValueError(f"this peer has no counterpart, or one too many, of: {odd}")
        for name, counterpart in counterparts.items():
            counterpart.copy_(torch.from_numpy(weights[name]))

    def under_our_names(self, read: Callable[[nn.Parameter], Tensor]) -> dict[str, Tensor]:
        """What `read` gives for each parameter, cut, turned and named as clearformer has it."""
        found = {"embedding.table": read(self.embedding.weight)}
        if self.share is not None:
            found["shift.share"] = read(self.share)
        for number, block in enumerate(self.blocks):
            prefix = f"blocks.{number}"
            names = [f"{prefix}.attention.{part}" for part in ("query", "key", "value")]
            found |= _linear(block.attention.query_key_value, read, *names)
            found |= _linear(block.attention.output, read, f"{prefix}.attention.output")
            found |= _linear(block.expand, read, f"{prefix}.feed_forward.expand")
            found |= _linear(block.project, read, f"{prefix}.feed_forward.project")
            found |= _norm(block.norm_1, read, f"{prefix}.norm_1")
            found |= _norm(block.norm_2, read, f"{prefix}.norm_2")
        return found | _norm(self.norm, read, "norm") | _linear(self.output, read, "output.linear")


class Block(nn.Module):  # type: ignore[misc]
    """Pre-norm residual block."""

    def __init__(self, c: ModelConfiguration):
        super().__init__()
        hidden, bias = c.hidden or 4 * c.embed, bool(c.bias)
        self.norm_1, self.norm_2 = norm_of(c), norm_of(c)
        self.attention = TurnedAttention(c) if c.recipe == "modern" else Attention(c)
        self.expand = nn.Linear(c.embed, hidden, bias=bias)
        self.project = nn.Linear(hidden, c.embed, bias=bias)
        self.activation = squared_relu if c.recipe == "modern" else nn.GELU(approximate="tanh")

    def forward(self, x: Tensor, positions: Tensor, cache: "LayerCache | None") -> Tensor:
        """X + attention(norm(x)), then x + feed_forward(norm(x))."""
        x = x + self.attention(self.norm_1(x), positions, cache)
        return x + self.project(self.activation(self.expand(self.norm_2(x))))


class Attention(nn.Module):  # type: ignore[misc]
    """Causal attention in several heads."""

    def __init__(self, c: ModelConfiguration):
        super().__init__()
        self.heads = c.heads
        self.scale: float | None = None  # 1/√width
        self.query_key_value = nn.Linear(c.embed, 3 * c.embed, bias=bool(c.bias))
        self.output = nn.Linear(c.embed, c.embed, bias=bool(c.bias))

    def placed(self, x: Tensor, positions: Tensor) -> Tensor:
        """A query or key (batch, seq, head, width) that knows its position: it does already."""
        return x

    def forward(self, x: Tensor, positions: Tensor, cache: "LayerCache | None") -> Tensor:
        """Mixes what each position may see. With a cache: a whole prompt first, then one by one."""
        batch, seq, embed = x.shape
        parts = self.query_key_value(x).view(batch, seq, 3, self.heads, -1).unbind(2)
        query = self.placed(parts[0], positions).transpose(1, 2)
        key = self.placed(parts[1], positions).transpose(1, 2)
        value = parts[2].transpose(1, 2)
        if cache:
            key, value = cache.extend(key, value)
        mixed = functional.scaled_dot_product_attention(
            query, key, value, is_causal=seq > 1, scale=self.scale
        )
        return self.output(mixed.transpose(1, 2).reshape(batch, seq, embed))


class TurnedAttention(Attention):
    """With normalised queries and keys, turned by their position."""

    def __init__(self, c: ModelConfiguration):
        super().__init__(c)
        if c.largest_score is not None:
            self.scale = c.largest_score * c.heads / c.embed

    def placed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Root mean square 1; then each pair of neighbours is multiplied by its turn."""
        normal = functional.rms_norm(x, x.shape[-1:], eps=RMS_EPSILON)
        pairs = torch.view_as_complex(normal.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * positions).flatten(-2)


class LayerCache:
    """Keys and values of one layer, in tensors made once."""

    def __init__(self, model: Decoder):
        attention, like = model.blocks[0].attention, model.embedding.weight
        shape = (1, attention.heads, model.context, model.embed // attention.heads)
        self.key, self.value = (like.new_empty(shape) for _ in range(2))
        self.length = 0

    def extend(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the new positions and returns all of them."""
        begin, self.length = self.length, self.length + key.shape[2]
        self.key[:, :, begin : self.length] = key
        self.value[:, :, begin : self.length] = value
        return self.key[:, :, : self.length], self.value[:, :, : self.length]


class Cache:
    """One `LayerCache` per block."""

    def __init__(self, model: Decoder):
        self.layers = [LayerCache(model) for _ in model.blocks]
        self.newest = model.embedding.weight.new_zeros(1, model.embed)
        self.length = 0

    def clear(self) -> None:
        """Forgets all positions."""
        self.length = 0
        for layer in self.layers:
            layer.length = 0


def squared_relu(x: Tensor) -> Tensor:
    """max(x, 0)²."""
    return functional.relu(x).square()


def norm_of(c: ModelConfiguration) -> nn.Module:
    """The norm of the recipe."""
    return nn.RMSNorm(c.embed, eps=RMS_EPSILON) if c.recipe == "modern" else nn.LayerNorm(c.embed)


def angles(length: int, width: int) -> Tensor:
    """p / 10000^(2j/width) for every position p and pair j."""
    even = torch.arange(0, width, 2, dtype=torch.float64) / width
    return torch.arange(length)[:, None] / BASE**even


def waves(c: ModelConfiguration) -> Tensor:
    """Sines and cosines in turn, (seq, embed)."""
    angle = angles(c.context, c.embed)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)[:, : c.embed]


def turns(length: int, width: int) -> Tensor:
    """Cosine and sine of each angle, (seq, width/2, 2): the parts of a complex number."""
    angle = angles(length, width)
    return torch.stack((angle.cos(), angle.sin()), -1)


def adamw(
    model: nn.Module, learning_rate: float, settings: AdamWSettings | None = None
) -> torch.optim.Optimizer:
    """AdamW with weight decay on matrices only."""
    settings = settings or AdamWSettings()
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.dim() < 2]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=learning_rate,
        betas=(settings.beta_1, settings.beta_2),
        eps=settings.epsilon,
        fused=True,
    )


def next_token_loss(model: Decoder, inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats per token."""
    return functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


def train_step(
    model: Decoder, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor, clip: float
) -> float:
    """One update; returns the loss before it."""
    loss = next_token_loss(model, inputs, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip, foreach=True)
    optimizer.step()
    return float(loss.item())


@torch.inference_mode()  # type: ignore[untyped-decorator]
def generate(model: Decoder, prompt: list[int], tokens: int, temperature: float) -> list[int]:
    """So many new ids, with a cache; the window slides in the same jumps as clearformer's."""
    ids, cache, begin = list(prompt), Cache(model), 0
    for _ in range(tokens):
        start = window_start(len(ids), model.context)
        if start != begin:
            cache.clear()
            begin = start
        new = torch.tensor([ids[start + cache.length :]])
        logits = model(new, cache)[0, -1]
        if temperature == 0:
            ids.append(int(logits.argmax()))
        else:
            ids.append(int(torch.multinomial((logits / temperature).softmax(-1), 1)))
    return ids[len(prompt) :]


def _linear(
    layer: nn.Linear, read: Callable[[nn.Parameter], Tensor], *names: str
) -> dict[str, Tensor]:
    """The parts of a linear layer that stand beside each other, each under its name."""
    weights = read(layer.weight).chunk(len(names))
    found = {f"{name}.weight": part.T for name, part in zip(names, weights, strict=True)}
    if layer.bias is None:
        return found
    biases = read(layer.bias).chunk(len(names))
    return found | {f"{name}.bias": part for name, part in zip(names, biases, strict=True)}


def _norm(layer: nn.Module, read: Callable[[nn.Parameter], Tensor], name: str) -> dict[str, Tensor]:
    found = {f"{name}.gain": read(layer.weight)}
    bias = getattr(layer, "bias", None)
    return found if bias is None else found | {f"{name}.bias": read(bias)}
