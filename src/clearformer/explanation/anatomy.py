"""How a model is built, as far as a trace of it depends on that; for each kind its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.models.decoder import Decoder
from clearformer.models.encoder.model import Encoder
from clearformer.models.linear import Unchanged
from clearformer.models.recurrent.model import RecurrentModel
from clearformer.models.stack import Stack


@dataclass(frozen=True)
class Anatomy:
    """Layers, heads, and what there is to see."""

    part: str
    """What its layers are called, in names of stages and parameters."""
    layers: int
    heads: int
    """Of attention, in each layer; 0 where there is no attention."""
    absent: frozenset[str]
    """Stages at which nothing happens in this model, so that there is nothing to show."""
    numbers: int
    """In each layer, per token, but for those of heads."""
    ends: int
    """Outside the layers, per token."""

    def bytes(self, seq: int, layer: int | None, head: int | None) -> int:
        """What a trace of so many tokens holds, with only one layer or head if they are chosen."""
        heads = self.heads if head is None else 1
        layers = self.layers if layer is None else 1
        return 4 * seq * (layers * (4 * heads * seq + self.numbers) + self.ends)


def anatomy_of(model: Any) -> Anatomy:
    """The anatomy of a model of any kind that can be explained."""
    return _ANATOMIES[type(model)](model)


def _of_stack(model: Stack) -> Anatomy:
    block = model.blocks[0]
    norms = {"norm_1": block.norm_1, "norm_2": block.norm_2, "norm": model.norm}
    vocabulary, embed = model.embedding.table.shape
    return Anatomy(
        part="blocks",
        layers=len(model.blocks),
        heads=block.attention.heads,
        absent=frozenset(name for name, norm in norms.items() if isinstance(norm, Unchanged)),
        numbers=12 * embed + 2 * int(block.feed_forward.expand.weight.shape[-1]),
        ends=2 * (vocabulary + 2 * embed),
    )


def _of_recurrent(model: RecurrentModel) -> Anatomy:
    vocabulary, embed = model.embedding.table.shape
    width, columns = model.layers[0].weight_hidden.shape
    return Anatomy(
        part="layers",
        layers=len(model.layers),
        heads=0,
        absent=frozenset({"projected"} if isinstance(model.projection, Unchanged) else ()),
        numbers=columns + 2 * width,
        ends=2 * (vocabulary + embed),
    )


_ANATOMIES: Mapping[type, Callable[[Any], Anatomy]] = {
    Decoder: _of_stack,
    Encoder: _of_stack,
    RecurrentModel: _of_recurrent,
}
