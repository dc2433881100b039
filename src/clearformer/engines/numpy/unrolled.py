"""What the recurrent cells share: sequences laid out step by step, and products of all steps.

A recurrence a_t = x_t W + h_{t-1} U + b waits for h_{t-1} only: all x_t W are one product before
the first step. Backwards, once d_t = dL/da_t is known for all steps, so are the gradients of the
weights, which add up over steps and sequences (Werbos, "Backpropagation Through Time", 1990):

    dL/dW = Σ_t x_tᵀ d_t,   dL/dU = Σ_t h_{t-1}ᵀ d_t,   dL/db = Σ_t d_t,   dL/dx_t = d_t Wᵀ.

With the steps below each other each sum is one product of matrices.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from clearformer.engines.bounds import check_recurrence
from clearformer.engines.helpers import Helpers, Job, parted
from clearformer.engines.packing import Packing, packing
from clearformer.engines.tape import helpers_of, value_of

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""product(rows, out) = rows @ weight, which is written to out."""


class Unrolled:
    """A batch of sequences, step by step.

    Attributes:
        x: the packed rows, (position, input).
        steps: of each step, its packed rows, and the states it starts from (see `Packing`).
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

    def after_sums(self, sums: Callable[[slice], Any]) -> Iterator[tuple[slice, slice]]:
        """Every step, once `sums(rows)` was called for its packed rows; helpers go ahead with that.

        The caller begins with the rows of the first steps, and makes these while helpers are busy
        with the others.
        """
        begin = int(len(self.steps) * OWN_SHARE) if self._helpers.count else len(self.steps)
        own, others = self.steps[:begin], self.steps[begin:]
        cut = others[0][0].start if others else len(self.x)
        rest = parted(slice(cut, len(self.x)), max(self._helpers.count, 1))
        asked = [self._helpers.ask(partial(sums, rows)) for rows in rest if rows.start < rows.stop]
        sums(slice(0, cut))
        yield from own
        for finish in asked:
            finish()
        yield from others

    def product_beside(self, weight: np.ndarray, own: Job) -> Product:
        """As `product`; a helper cuts the weight into stripes while the caller does `own`."""
        finish = self._helpers.ask(partial(self.product, weight))
        own()
        return finish()

    def backwards(self, after: Callable[[slice], Any]) -> Iterator[tuple[slice, slice]]:
        """Every step, the last one first; `after(rows)` is called for all rows that were made.

        Helpers begin with the rows of the later steps while the caller makes the earlier ones.
        """
        cut = int(len(self.steps) * LATER) if self._helpers.count else 0
        early, late = self.steps[:cut], self.steps[cut:]
        yield from reversed(late)
        begin = late[0][0].start if late else 0
        made = parted(slice(begin, len(self.x)), max(self._helpers.count, 1))
        asked = [self._helpers.ask(partial(after, rows)) for rows in made]
        yield from reversed(early)
        for finish in asked:
            finish()
        rest = parted(slice(0, begin), self._helpers.count + 1)
        self._helpers.share([partial(after, rows) for rows in rest if rows.start < rows.stop])

    def to_weights(
        self, to_x: np.ndarray, to_states: np.ndarray, states: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The gradients of W and U, once those of x W and h U are known for all steps."""
        to_w = np.empty((self.x.shape[1], to_x.shape[1]), to_x.dtype)
        to_u = np.empty((states.shape[1], to_states.shape[1]), to_x.dtype)
        self._helpers.share(
            [
                partial(np.matmul, self.x.T, to_x, out=to_w),
                partial(np.matmul, states[self.before].T, to_states, out=to_u),
            ]
        )
        return to_w, to_u

    def room(self, columns: int, dtype: Any) -> np.ndarray:
        """Room for a row of every sequence."""
        return np.empty((self._packing.batch, columns), dtype)

    def after(self, states: np.ndarray) -> np.ndarray:
        """The states that follow each packed row."""
        return states[self._packing.batch :]

    def last(self, states: np.ndarray) -> np.ndarray:
        """The last state of each sequence, a copy."""
        return np.array(states[self._packing.last][self._packing.back])

    def carried(self, grad: np.ndarray | None, like: np.ndarray) -> np.ndarray:
        """The gradient of the last states, in order, to be changed on its way back in time."""
        shape = self._packing.batch, like.shape[-1]
        if grad is None:
            return np.zeros(shape, like.dtype)
        return np.array(grad if self._packing.order is None else grad[self._packing.order])

    def first(self, carried: np.ndarray) -> np.ndarray:
        """The gradient of the initial states: what was carried all the way."""
        return carried if self._packing.order is None else carried[self._packing.back]


OWN_SHARE = 0.3
"""Of the steps: with their rows begins who makes them. Helpers are done with all other rows by the
time these steps are made: a step takes about as long as the sums of two others."""

LATER = 0.45
"""Of the steps: behind it are the later ones. Helpers are done with their rows by the time the
earlier steps are made."""

STRIPE = 64
"""Columns. A product of few rows with so many columns is small enough for OpenBLAS to take its
numbers where they lie, in place of copying the whole weight into an order of its own each time:
measured with 12 rows and 256 × 1,024, 57 µs in place of 160; with 32 rows, 147 in place of 244."""

SMALL = 1_000_000
"""Up to so many multiplications OpenBLAS does that. Products of more columns than this allows are
cut along the sum, too: with 12 rows and 2,048 × 512, 222 µs in place of 377."""

MOST_PARTS = 8
"""Of a sum; adding up more costs what they save."""

WORTH_CUTTING = 4
"""Products with a weight that make up for cutting it into stripes."""


def repeated(weight: np.ndarray, times: int, most: int) -> Product:
    """Multiplies with one weight, to be called so many times with a few rows, at most `most`."""
    inner, columns = weight.shape
    if times < WORTH_CUTTING or columns < STRIPE:
        return lambda rows, out: np.matmul(rows, weight, out=out)
    cut, parts = columns - columns % STRIPE, _parts(most, inner)
    stripes = weight[:, :cut].reshape(parts, inner // parts, -1, STRIPE).swapaxes(1, 2)
    stripes, rest = np.ascontiguousarray(stripes), np.ascontiguousarray(weight[:, cut:])
    sums = np.empty((parts, most, cut), weight.dtype)

    def product(rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        count = len(rows)
        if parts == 1:
            whole = out[:, :cut].reshape(count, -1, STRIPE)
            np.matmul(rows, stripes[0], out=whole.swapaxes(0, 1))
        else:
            left = rows.reshape(count, parts, 1, -1).transpose(1, 2, 0, 3)
            added = sums[:, :count].reshape(parts, count, -1, STRIPE)
            np.matmul(left, stripes, out=added.swapaxes(1, 2))
            np.add.reduce(sums[:, :count], 0, out=out[:, :cut])
        if cut < columns:
            np.matmul(rows, rest, out=out[:, cut:])
        return out

    return product


def _parts(rows: int, inner: int) -> int:
    """In how many parts a sum is added up, so that each product with a stripe is small."""
    parts = 1
    while rows * inner * STRIPE > SMALL * parts and parts < MOST_PARTS and inner % (2 * parts) == 0:
        parts *= 2
    return parts


def squash(rows: np.ndarray) -> None:
    """σ(a) = (1 + tanh(a/2)) / 2 in place: the quicker way, and no number overflows."""
    rows *= 0.5
    np.tanh(rows, out=rows)
    rows += 1
    rows *= 0.5
