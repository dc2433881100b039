"""The tape: records operations as they run, and runs them backwards.

Each operation of the NumPy engine computes its result, then calls `record` with a function that
turns the gradient of the result into the gradients of the inputs. Backwards, the tape walks from
the last record to the first and adds up what each tensor receives (reverse-mode differentiation:
Linnainmaa, 1970; Baydin et al., "Automatic Differentiation in Machine Learning: a Survey", 2018).

A tape belongs to one thread. Broadcasting is undone here and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from clearformer.engines.helpers import ALONE, Helpers
from clearformer.errors import ShapeError

Gradient = Callable[[np.ndarray], tuple[np.ndarray | None, ...]]
"""Given dL/d(result), returns dL/d(input) for each input, None where there is none."""

NOWHERE = -1
"""The place of an input that is on no tape."""


class TapeTensor:
    """An array together with its place on a tape."""

    __slots__ = ("data", "index", "tape")

    def __init__(self, data: np.ndarray, tape: "Tape", index: int):
        self.data = data
        self.tape = tape
        self.index = index

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.data.shape

    @property
    def dtype(self) -> Any:
        """The type of the numbers."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self.data.ndim

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        return add(other, self)

    def __mul__(self, other: Any) -> Any:
        return multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return multiply(other, self)

    __array_ufunc__ = None  # so that `array + tape_tensor` reaches __radd__

    def __float__(self) -> float:
        return float(self.data)

    def __repr__(self) -> str:
        return f"TapeTensor(shape={self.shape}, dtype={self.dtype}, index={self.index})"


class _Record:
    """One operation that ran: which entries went in, and how a gradient comes back."""

    __slots__ = ("gradient", "inputs", "name", "shapes")

    def __init__(
        self,
        name: str,
        inputs: Sequence[int],
        shapes: Sequence[tuple[int, ...]],
        gradient: Gradient | None,
    ):
        self.name = name
        self.inputs = inputs
        self.shapes = shapes
        self.gradient = gradient


class Tape:
    """A list of records, the leaves first.

    Attributes:
        helpers: who may share in the work of an operation.
        compiled: whether operations may use compiled kernels.
    """

    def __init__(self, helpers: Helpers = ALONE, compiled: bool = False) -> None:
        self.helpers = helpers
        self.compiled = compiled
        self._records: list[_Record] = []
        self._gradients: dict[int, np.ndarray] = {}
        self._rooms: dict[int, np.ndarray] = {}

    def watch(self, array: np.ndarray) -> TapeTensor:
        """Makes `array` a leaf: an input whose gradient can be asked for."""
        self._records.append(_Record("leaf", (), (), None))
        return TapeTensor(array, self, len(self._records) - 1)

    def __len__(self) -> int:
        return len(self._records)

    def lend(self, rooms: Mapping[int, np.ndarray]) -> None:
        """Offers room for the gradients of leaves, by their place: see `room_for`."""
        self._rooms = dict(rooms)

    def room_for(self, index: int) -> np.ndarray | None:
        """Where the gradient of this entry may be written: each room is given to one operation."""
        return self._rooms.pop(index, None)

    def append(
        self, name: str, value: np.ndarray, inputs: Sequence[Any], gradient: Gradient
    ) -> TapeTensor:
        """Adds the record of an operation and returns its result as a tensor of this tape."""
        places, shapes = [], []
        for x in inputs:
            recorded = type(x) is TapeTensor
            places.append(x.index if recorded else NOWHERE)
            shapes.append(x.data.shape if recorded else ())
        self._records.append(_Record(name, places, shapes, gradient))
        return TapeTensor(value, self, len(self._records) - 1)

    def backward(self, result: TapeTensor, seed: float | np.ndarray = 1.0) -> None:
        """Computes the gradient of `sum(seed * result)` with respect to every leaf.

        Each record is dropped once it has been used, so that its arrays are freed on the way.
        """
        gradients = self._gradients = {
            result.index: np.broadcast_to(np.asarray(seed, result.dtype), result.shape)
        }
        last = self._records[result.index]
        if last.gradient is None and last.inputs:
            raise ShapeError("backward has already run on this tape; record again, or forget first")
        for index in range(len(self._records) - 1, -1, -1):
            record = self._records[index]
            gradient, record.gradient = record.gradient, None  # side branches are let go too
            if gradient is None or index not in gradients:
                continue
            received = gradient(gradients.pop(index))
            for place, shape, part in zip(record.inputs, record.shapes, received, strict=True):
                if place == NOWHERE or part is None:
                    continue
                share = undo_broadcasting(np.asarray(part), shape)
                before = gradients.get(place)
                gradients[place] = share if before is None else np.asarray(before + share)

    def gradient(self, leaf: TapeTensor) -> np.ndarray:
        """dL/d(leaf) after `backward`; zeros if the result did not depend on it."""
        found = self._gradients.get(leaf.index)
        return np.zeros_like(leaf.data) if found is None else found

    def forget(self, keep: int) -> None:
        """Drops all records but the first `keep` (the leaves), and all gradients."""
        del self._records[keep:]
        self._gradients = {}


def undo_broadcasting(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sums `gradient` over the axes along which an input of `shape` was repeated."""
    if gradient.shape == shape:
        return gradient
    extra = gradient.ndim - len(shape)
    repeated = tuple(range(extra)) + tuple(
        axis + extra
        for axis, size in enumerate(shape)
        if size == 1 and gradient.shape[axis + extra] != 1
    )
    return np.asarray(gradient.sum(axis=repeated)).reshape(shape)


def is_recorded(x: Any) -> bool:
    """Whether it lies on a tape, and so may receive a gradient."""
    return type(x) is TapeTensor


def value_of(x: Any) -> np.ndarray:
    """The array behind a tensor, recorded or not."""
    return x.data if type(x) is TapeTensor else np.asarray(x)


def room_for(x: Any) -> np.ndarray | None:
    """Where an operation may write the gradient of `x`, once; None where it makes an array."""
    return x.tape.room_for(x.index) if type(x) is TapeTensor else None


def helpers_of(inputs: Iterable[Any]) -> Helpers:
    """Those of the inputs' tape; nobody where nothing is recorded."""
    return next((x.tape.helpers for x in inputs if type(x) is TapeTensor), ALONE)


def compiled_of(inputs: Iterable[Any]) -> bool:
    """Whether the inputs' tape lets kernels do it; of plain arrays, see `kernels_for_arrays`."""
    tapes = [x.tape for x in inputs if type(x) is TapeTensor]
    return any(tape.compiled for tape in tapes) if tapes else len(_for_arrays) > 0


_for_arrays: list[object] = []


@contextmanager
def kernels_for_arrays() -> Iterator[None]:
    """Inside, on every thread, kernels may do what nothing records, too: evaluations, samples."""
    mine = object()
    _for_arrays.append(mine)
    try:
        yield
    finally:
        _for_arrays.remove(mine)


def record(name: str, value: Any, inputs: Sequence[Any], gradient: Gradient) -> Any:
    """Returns `value` as a tensor of the inputs' tape, or as a plain array if there is none."""
    value = np.asarray(value)  # NumPy turns results without axes into scalars
    tape: Tape | None = None
    for x in inputs:
        if type(x) is TapeTensor:
            if tape is not None and x.tape is not tape:
                raise ShapeError(f"{name}: expected tensors of one tape, got tensors of two")
            tape = x.tape
    return value if tape is None else tape.append(name, value, inputs, gradient)


def record_several(
    name: str,
    values: Sequence[Any],
    inputs: Sequence[Any],
    gradient: Callable[..., tuple[np.ndarray | None, ...]],
) -> tuple[Any, ...]:
    """As `record`, for an operation with several results.

    The operation has one record, each result another behind it. Backwards, the results come first
    and leave their gradients; `gradient` is then called once with all of them, in order, and None
    for a result that nobody used.
    """
    left: list[np.ndarray | None] = [None] * len(values)
    operation = record(name, 0.0, inputs, lambda _: gradient(*left))
    if type(operation) is not TapeTensor:
        return tuple(map(np.asarray, values))

    def leaving(place: int) -> Gradient:
        def leave(grad: np.ndarray) -> tuple[np.ndarray]:
            left[place] = grad
            return (grad.dtype.type(0),)  # tells the operation that something was left

        return leave

    return tuple(record(name, x, (operation,), leaving(n)) for n, x in enumerate(values))


def _operand(x: Any) -> Any:
    """Plain numbers stay plain: as arrays they would turn float32 into float64."""
    return x if isinstance(x, int | float) else value_of(x)


def add(a: Any, b: Any) -> Any:
    """d(a+b) = da + db: the gradient goes to both sides unchanged."""
    return record("add", _operand(a) + _operand(b), (a, b), lambda grad: (grad, grad))


def multiply(a: Any, b: Any) -> Any:
    """d(ab) = b·da + a·db; what does not lie on a tape receives nothing."""
    x, y = _operand(a), _operand(b)
    to_a, to_b = (y if is_recorded(a) else None), (x if is_recorded(b) else None)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
        return tuple(None if factor is None else grad * factor for factor in (to_a, to_b))

    return record("multiply", x * y, (a, b), gradient)


def value_and_gradients(function: Callable[..., Any], *inputs: Any) -> tuple[Any, tuple[Any, ...]]:
    """The value of `sum(function(*inputs))` and its gradient with respect to each input.

    Args:
        function: written with the operations of `clearformer.ops`.
        inputs: arrays of floating-point numbers, or tensors of PyTorch.

    Returns:
        The result of the function, and one gradient per input, of the input's shape: arrays, or
        tensors where the inputs were.
    """
    if any(hasattr(x, "requires_grad_") for x in inputs):
        return _by_themselves(function, inputs)
    tape = Tape()
    leaves = [tape.watch(np.asarray(x)) for x in inputs]
    result = function(*leaves)
    if not isinstance(result, TapeTensor):  # does not depend on its inputs
        return np.asarray(result), tuple(np.zeros_like(leaf.data) for leaf in leaves)
    tape.backward(result)
    return result.data, tuple(tape.gradient(leaf) for leaf in leaves)


def _by_themselves(
    function: Callable[..., Any], inputs: Sequence[Any]
) -> tuple[Any, tuple[Any, ...]]:
    """The same for tensors that differentiate themselves."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    result = function(*leaves)
    if result.requires_grad:
        result.sum().backward()
    gradients = (x.new_zeros(x.shape) if x.grad is None else x.grad for x in leaves)
    return result.detach(), tuple(gradients)
