"""What a decoder is made of: sizes and recipe, checked when made, saved beside the weights."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from clearformer.errors import ConfigurationError
from clearformer.models.activations import NUMPY, WIDE, kept_by_torch
from clearformer.models.kind import Configuration, check_choice, check_dropout, check_size
from clearformer.models.products import matrices, step_flops

Recipe = Literal["modern", "classic"]

SIZES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"layers": 2, "heads": 2, "embed": 64, "context": 32},
    "small": {"layers": 4, "heads": 4, "embed": 128, "context": 64},
    "medium": {"layers": 6, "heads": 6, "embed": 384, "context": 256},
    "large": {"layers": 12, "heads": 12, "embed": 768, "context": 1024},
}
"""The size dial. Small has about 0.8 million parameters, large about 85 million."""

BRIEF: Mapping[str, Any] = {"layers": 2, "heads": 2}
"""What a small model has in a run of at most half a minute: steps take half as long, and twice as
many are worth more there than depth (decision 0016)."""

RECIPES: Mapping[str, Mapping[str, Any]] = {
    "classic": {
        "positions": "sinusoidal",
        "norm": "layer",
        "activation": "gelu",
        "query_key_norm": False,
        "bias": True,
        "token_shift": False,
    },
    "modern": {
        "positions": "rotary",
        "norm": "rms",
        "activation": "squared_relu",
        "query_key_norm": True,
        "bias": False,
        "token_shift": True,
    },
}
"""Classic: Vaswani et al., 2017, and GPT-2. Modern: what replaced each piece since."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "recipe": tuple(RECIPES),
    "positions": ("sinusoidal", "rotary"),
    "norm": ("layer", "rms"),
    "activation": ("gelu", "squared_relu", "swiglu"),
}


LARGEST_SCORE = 16.0
"""Of a query and a key of the same direction, where both are normalised. Their scores cannot grow
by learning then, so they must be able to single a token out: of 256 others that have a score of 0,
one with 16 leaves 3e-5; one with √16 = 4, as a head of 16 numbers has it without, 82 %."""

MOST_SCORE = 60.0
"""exp of it times any number of tokens is a float32: no score has to be made smaller first."""


@dataclass(frozen=True)
class ModelConfiguration(Configuration):
    """Sizes and pieces of a decoder; what is None follows from the rest (see `completed`)."""

    kind: ClassVar[str] = "decoder"
    before: ClassVar[Mapping[str, object]] = {"largest_score": None, "token_shift": False}

    layers: int = 4
    """Blocks, one above the other."""
    heads: int = 4
    """Attention heads in each block; they share out `embed` among them."""
    embed: int = 128
    """Width of the residual stream."""
    context: int = 64
    """Tokens the model sees at once."""
    key_value_heads: int | None = None
    """Heads of keys and values; fewer than `heads` are shared. Unless given: as many as heads."""
    hidden: int | None = None
    """Width of the feed-forward layer. Unless given: 4 · embed (two thirds of that when gated)."""
    recipe: Recipe = "modern"
    """Which pieces are taken where none is named."""
    positions: str | None = None
    """sinusoidal or rotary."""
    norm: str | None = None
    """layer or rms."""
    activation: str | None = None
    """gelu, squared_relu or swiglu (gated)."""
    query_key_norm: bool | None = None
    """Whether queries and keys are normalised before they meet."""
    largest_score: float | None = LARGEST_SCORE
    """Score of a normalised query and key of the same direction; None: √(embed / heads)."""
    bias: bool | None = None
    """Whether linear layers have a bias."""
    token_shift: bool | None = None
    """Whether each token's vector takes along a learned share of the one before."""
    tied: bool = False
    """Whether the output uses the embedding table."""
    dropout: float = 0.0
    """Share of numbers dropped while training, 0 ≤ dropout < 1."""

    def __post_init__(self) -> None:
        self._check_types()
        self._check_heads()

    def _check_types(self) -> None:
        for name in ("vocabulary", "layers", "heads", "embed", "context"):
            check_size(name, getattr(self, name))
        for name in ("key_value_heads", "hidden"):
            if getattr(self, name) is not None:
                check_size(name, getattr(self, name))
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if value is not None or name == "recipe":
                check_choice(name, value, known)
        for name in ("query_key_norm", "bias", "token_shift", "tied"):
            if getattr(self, name) not in (True, False, None):
                raise ConfigurationError(
                    f"{name} must be true or false; got {getattr(self, name)!r}"
                )
        check_score(self.largest_score)
        check_dropout(self.dropout)

    def _check_heads(self) -> None:
        rotary = self.completed.positions == "rotary"
        if self.embed % self.heads:
            unit = self.heads * (2 if rotary else 1)
            below = self.embed - self.embed % unit
            tries = [str(n) for n in (below, below + unit) if n > 0]
            raise ConfigurationError(
                f"embed must be a multiple of heads; got embed={self.embed}, heads={self.heads}; "
                f"try {' or '.join(tries)}"
            )
        width = self.embed // self.heads
        if rotary and width % 2:
            raise ConfigurationError(
                f"rotary positions turn pairs, so embed / heads must be even; got {self.embed} / "
                f"{self.heads} = {width}; try embed={self.heads * (width + 1)}"
            )
        shared = self.key_value_heads
        if shared is not None and (shared > self.heads or self.heads % shared):
            raise ConfigurationError(
                f"heads must be a multiple of key_value_heads; got heads={self.heads}, "
                f"key_value_heads={shared}; try "
                f"{' or '.join(str(n) for n in _divisors_near(self.heads, shared))}"
            )

    @property
    def usual_optimizer(self) -> str:
        """The textbook's for the textbook's recipe; Muon for the modern one."""
        return "muon" if self.recipe == "modern" else "adamw"

    @property
    def pieces(self) -> Mapping[str, Any]:
        """What the recipe takes where nothing is said."""
        return RECIPES[self.recipe]

    @property
    def completed(self) -> "ModelConfiguration":
        """The same configuration with every None filled in from the recipe."""
        recipe = self.pieces
        chosen = {name: v for name, v in recipe.items() if getattr(self, name) is None}
        gated = (self.activation or recipe["activation"]) == "swiglu"
        if self.hidden is None:
            chosen["hidden"] = max(1, 8 * self.embed // 3) if gated else 4 * self.embed
        if self.key_value_heads is None:
            chosen["key_value_heads"] = self.heads
        if not chosen:
            return self
        result = object.__new__(type(self))  # already checked; checking again would not end
        for field in fields(self):
            object.__setattr__(
                result, field.name, chosen.get(field.name, getattr(self, field.name))
            )
        return result

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns, in exact integers, before anything is allocated."""
        c = self.completed
        bias = int(bool(c.bias))
        key_value = c.embed // c.heads * _given(c.key_value_heads)
        attention = 2 * (c.embed * c.embed + bias * c.embed)
        attention += 2 * (c.embed * key_value + bias * key_value)
        hidden = _given(c.hidden)
        wide = 2 if c.activation == "swiglu" else 1
        feed_forward = wide * (c.embed * hidden + bias * hidden) + hidden * c.embed + bias * c.embed
        norm = c.embed * (2 if c.norm == "layer" else 1)
        output = 0 if c.tied else c.embed * c.vocabulary
        blocks = c.layers * (attention + feed_forward + 2 * norm)
        shift = c.embed * bool(c.token_shift)
        return c.vocabulary * c.embed + shift + blocks + norm + output

    @property
    def in_matrices(self) -> int:
        """Those of every matrix, exactly: the table of embeddings is one."""
        table = 0 if self.tied else self.vocabulary * self.embed
        return table + sum(inputs * outputs for inputs, outputs in matrices(self))

    def operations(self, rows: int) -> int:
        """See `products.step_flops`."""
        return step_flops(self, rows)

    def kept_numbers(self, rows: int) -> int:
        """Everything that is alive at once on a tape of NumPy's, at most."""
        return NUMPY.bytes(self, rows) // WIDE

    def kept_on_torch(self, rows: int, precision: str, on_gpu: bool) -> int:
        """What `kept_by_torch` counts and, at the loss, the logits and later their gradient."""
        kept = kept_by_torch(self, precision, on_gpu).bytes(self, rows)
        return kept + 2 * WIDE * rows * self.context * self.vocabulary

    @property
    def window(self) -> int:
        """A decoder is trained on windows as long as what it sees at once."""
        return self.context

    @property
    def title(self) -> str:
        """With its recipe."""
        return f"{self.recipe} decoder"

    @property
    def in_words(self) -> str:
        """Layers, heads and widths."""
        c = self.completed
        return (
            f"{c.layers} layer{'s' * (c.layers > 1)}, {c.heads} head{'s' * (c.heads > 1)},\n"
            f"embed {c.embed}, context {c.context}"
        )


def check_score(value: Any) -> None:
    """Refuses what cannot be the largest score.

    Raises:
        ConfigurationError: it is no number above 0.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (number and 0 < value <= MOST_SCORE):
        raise ConfigurationError(
            f"largest_score must be a number above 0, at most {MOST_SCORE:g}; got {value!r:.40}"
        )


def _given(value: int | None) -> int:
    if value is None:
        raise ConfigurationError("the configuration is not completed")
    return value


def _divisors_near(heads: int, wanted: int) -> list[int]:
    """The largest divisor of `heads` below, and the smallest above."""
    divisors = [n for n in range(1, min(heads, 4096) + 1) if heads % n == 0]
    below = [n for n in divisors if n < wanted][-1:]
    return below + [n for n in divisors if n > wanted][:1]
