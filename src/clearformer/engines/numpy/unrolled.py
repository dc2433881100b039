"""What the recurrent cells share: sequences laid out step by step, and products of all steps.

A recurrence a_t = x_t W + h_{t-1} U + b waits for h_{t-1} only: all x_t W are one product before
the first step. Backwards, once d_t = dL/da_t is known for all steps, so are the gradients of the
weights, which add up over steps and sequences (Werbos, "Backpropagation Through Time", 1990):

    dL/dW = Σ_t x_tᵀ d_t,   dL/dU = Σ_t h_{t-1}ᵀ d_t,   dL/db = Σ_t d_t,   dL/dx_t = d_t Wᵀ.

With the steps below each other each sum is one product of matrices.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from clearformer.engines.bounds import check_recurrence
from clearformer.engines.helpers import Helpers, Job
from clearformer.engines.numpy.stripes import Product, repeated
from clearformer.engines.packing import Packing, packing
from clearformer.engines.tape import helpers_of, value_of

Step = tuple[slice, slice]
"""Its packed rows, and the places of the states that it starts from."""

RowsJob = Callable[[slice], Any]


class Unrolled:
    """A batch of sequences, step by step.

    Attributes:
        x: the packed rows, (position, input).
        steps: of each step, its packed rows, and the states it starts from (see `Packing`).
        parts: stretches of steps that `backwards` makes one after another.
    """

    def __init__(self, gates: int, lengths: Any, x: Any, **others: Any):
        there = {name: value_of(one) for name, one in others.items() if one is not None}
        data = value_of(x)
        lengths = None if lengths is None else np.asarray(lengths)
        shapes = {name: one.shape for name, one in there.items()}
        check_recurrence(gates, lengths, data.shape, **shapes)
        self._packing: Packing = packing(data.shape[0], data.shape[1], lengths)
        self.steps = self._packing.slices
        self.before = self._packing.before
        self._helpers: Helpers = helpers_of((x, *others.values()))
        self.x = self.packed(data)
        self.parts = len(self._stretches(BEHIND))

    def is_single(self, *others: np.ndarray) -> bool:
        """Whether everything is in float32, as kernels have it."""
        return all(each.dtype == np.float32 for each in (self.x, *others))

    def places(self) -> np.ndarray:
        """`steps` for a kernel: of each (step, 3) the first row, the last + 1, the state before."""
        rows = [(now.start, now.stop, before.start) for now, before in self.steps]
        return np.array(rows, np.int64).reshape(-1, 3)

    def packed(self, x: np.ndarray) -> np.ndarray:
        """(batch, seq, …) → (position, …)."""
        if self._packing.order is None:
            return x.swapaxes(0, 1).reshape(-1, x.shape[-1])
        return x[self._packing.rows, self._packing.steps]

    def unpacked(self, rows: np.ndarray) -> np.ndarray:
        """(position, …) → (batch, seq, …), with 0 where there is nothing."""
        batch, seq = self._packing.batch, self._packing.seq
        if self._packing.order is None:
            return rows.reshape(seq, batch, rows.shape[-1]).swapaxes(0, 1)
        whole = np.zeros((batch, seq, rows.shape[-1]), rows.dtype)
        whole[self._packing.rows, self._packing.steps] = rows
        return whole

    def states(self, first: np.ndarray, dtype: Any) -> np.ndarray:
        """Room for the states of all steps, with the initial ones in their places."""
        batch = self._packing.batch
        room = np.empty((batch + self._packing.total, first.shape[-1]), dtype)
        room[:batch] = first if self._packing.order is None else first[self._packing.order]
        return room

    def product(self, weight: np.ndarray) -> Product:
        """What multiplies the rows of every step with a weight: see `repeated`."""
        return repeated(weight, len(self.steps), self._packing.batch)

    def product_beside(self, weight: np.ndarray) -> Callable[[], Product]:
        """As `product`, which a helper makes until what is returned is called."""
        return self._helpers.ask(partial(self.product, weight))

    def after_sums(self, sums: RowsJob) -> Iterator[Step]:
        """Every step, once `sums(rows)` was called for its packed rows.

        The caller begins with the rows of the first steps, and makes these while helpers are busy
        with the others.
        """
        first, *others = self._stretches(AHEAD)
        asked = [self._helpers.ask(partial(sums, _rows(steps))) for steps in others]
        sums(_rows(first))
        yield from first
        for steps, finish in zip(others, asked, strict=True):
            finish()
            yield from steps

    def backwards(
        self, before: RowsJob, after: Callable[[slice, int], Sequence[Job]]
    ) -> Iterator[Step]:
        """Every step, the last one first; `before(rows)` was called for its packed rows.

        Steps come in stretches. Once those of one were made, so are the jobs `after(rows, number)`;
        the latest stretch has the number 0. Helpers do these and `before` of other stretches while
        the caller makes steps.
        """
        *others, made = self._stretches(BEHIND)
        earlier = self._helpers.ask(partial(before, slice(0, _rows(made).start)))
        before(_rows(made))
        yield from reversed(made)
        left = []
        for number, steps in enumerate(reversed(others)):
            left += [self._helpers.ask(job) for job in after(_rows(made), number)]
            if not number:
                earlier()
            yield from reversed(steps)
            made = steps
        left += [self._helpers.ask(job) for job in after(_rows(made), len(others))]
        for finish in reversed(left):
            finish()

    def both(self, first: Job, second: Job) -> tuple[Any, Any]:
        """What two jobs return; a helper does the first."""
        finish, own = self._helpers.ask(first), second()
        return finish(), own

    def _stretches(self, cuts: Sequence[float]) -> list[list[Step]]:
        """The steps in one piece; where there are helpers cut at these shares of them."""
        if not self._helpers.count:
            return [self.steps]
        places = [0, *(int(cut * len(self.steps)) for cut in cuts), len(self.steps)]
        found = [self.steps[begin:end] for begin, end in pairwise(places)]
        return [steps for steps in found if steps] or [self.steps]

    def room(self, columns: int, dtype: Any) -> np.ndarray:
        """Room for a row of every sequence."""
        return np.empty((self._packing.batch, columns), dtype)

    def states_before(self, states: np.ndarray, rows: slice) -> np.ndarray:
        """The states that these packed rows start from."""
        if isinstance(self.before, slice):
            return states[self.before][rows]
        return states[self.before[rows]]

    def after(self, states: np.ndarray) -> np.ndarray:
        """The states that follow each packed row."""
        return states[self._packing.batch :]

    def last(self, states: np.ndarray) -> np.ndarray:
        """The last state of each sequence, a copy."""
        there = states[self._packing.last]
        return np.array(there if self._packing.order is None else there[self._packing.back])

    def carried(self, grad: np.ndarray | None, like: np.ndarray) -> np.ndarray:
        """The gradient of the last states, in order, to be changed on its way back in time."""
        shape = self._packing.batch, like.shape[-1]
        if grad is None:
            return np.zeros(shape, like.dtype)
        return np.array(grad if self._packing.order is None else grad[self._packing.order])

    def first(self, carried: np.ndarray) -> np.ndarray:
        """The gradient of the initial states: what was carried all the way."""
        return carried if self._packing.order is None else carried[self._packing.back]


AHEAD = (0.12, 0.3, 0.6)
"""Shares of the steps. Before the first cut the rows are of who makes the steps; helpers are done
with the others by the time they are needed: a step takes about as long as the sums of two."""

BEHIND = (0.3, 0.6, 0.82)
"""Shares of the steps. What follows a step takes helpers half again as long as making it, so those
of the first stretch are left to who makes the steps."""


class Sums:
    """A gradient that adds up over all rows: each stretch of steps makes a part of it."""

    def __init__(self, parts: int, shape: tuple[int, ...], dtype: Any, room: np.ndarray | None):
        """The sum is written to `room`, where there is any."""
        self._room = room
        if room is None or parts > 1:
            self._parts = np.empty((parts, *shape), dtype)
        else:
            self._parts = room[None]

    def __getitem__(self, number: int) -> np.ndarray:
        """Room for the part of this stretch."""
        return self._parts[number]

    def total(self) -> np.ndarray:
        """The sum, once every part was made."""
        if len(self._parts) == 1:
            return self._parts[0] if self._room is None else self._room
        return np.add.reduce(self._parts, 0, out=self._room)


def _rows(steps: Sequence[Step]) -> slice:
    """The packed rows of consecutive steps."""
    return slice(steps[0][0].start, steps[-1][0].stop) if steps else slice(0, 0)


def squash(rows: np.ndarray) -> None:
    """σ(a) = (1 + tanh(a/2)) / 2 in place: the quicker way, and no number overflows."""
    rows *= 0.5
    np.tanh(rows, out=rows)
    rows += 1
    rows *= 0.5
