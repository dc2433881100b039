"""What every operation takes and returns: a tensor, and the names of its axes.

A tensor is a `numpy.ndarray`, a `TapeTensor` (NumPy, recorded for gradients) or a tensor of another
engine. Code above `ops` uses nothing of it but `shape`, `dtype`, `ndim` and the `+` and `*` signs;
everything else is an operation.

The axes, everywhere the same:

| axis | meaning |
| --- | --- |
| `batch` | sequences handled at once |
| `seq` | positions of one sequence |
| `query`, `key` | positions, on the looking and on the looked-at side of a score table |
| `embed` | width of the residual stream (the papers' d_model) |
| `head` | attention heads |
| `width` | width of one head (the papers' d_k) |
| `hidden` | width of the feed-forward layer (the papers' d_ff), or of a recurrent state |
| `vocab` | tokens of the vocabulary |
| `layer` | blocks, from the bottom |
"""

import sys
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Complex, Float, Int, Shaped
else:
    # The names of axes are checked under pytest, whose plugin has loaded jaxtyping by now. Loading
    # it here would add about 70 ms to the start of every command, to check nothing.
    class _Axes:
        def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
            return item[0]

    Bool = Complex = Float = Int = Shaped = _Axes

__all__ = ["Bool", "Complex", "Float", "Int", "Shaped", "T", "Tensor", "number_type"]


@runtime_checkable
class Tensor(Protocol):
    """An array of numbers that knows its shape, whichever engine it belongs to."""

    @property
    def shape(self) -> Any:
        """The sizes of the axes."""

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""

    @property
    def ndim(self) -> int:
        """How many axes there are."""

    def __add__(self, other: Any, /) -> Any:
        """Element by element, with broadcasting."""

    def __mul__(self, other: Any, /) -> Any:
        """Element by element, with broadcasting."""


def number_type(x: Tensor) -> str:
    """The name of NumPy's type for the numbers of x; float32 for a type that NumPy lacks."""
    name = str(x.dtype).rpartition(".")[2]
    return name if name in ("float16", "float32", "float64") else "float32"


T = TypeVar("T", bound=Tensor)
"""A kind of tensor: an array in gives an array out, a tape tensor in a tape tensor out."""
