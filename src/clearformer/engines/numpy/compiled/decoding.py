"""The compiled way of making one token after another."""

from collections.abc import Sequence
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from clearformer.engines.bounds import check_ids
from clearformer.engines.numpy.compiled import decoding_kernel
from clearformer.engines.numpy.compiled.decoding_kernel import (
    AWAY,
    FAR_APART,
    STATE,
    Dials,
    Room,
    Weights,
)
from clearformer.engines.numpy.compiled.kernel import make_ready
from clearformer.engines.numpy.compiled.pace import Pace
from clearformer.engines.numpy.compiled.second_thread import SecondThread
from clearformer.engines.plan import Folded, Plan
from clearformer.engines.processor import made_by_amd
from clearformer.engines.threads import share_out

ACTIVATIONS = {
    "gelu": decoding_kernel.GELU,
    "squared_relu": decoding_kernel.SQUARED_RELU,
    "silu": decoding_kernel.SILU,
}

THREADS = 2
"""More would read a laptop's memory no quicker."""

LINE = 64
"""Bytes of a line of the cache, and of the widest register."""

AT_ONCE, SECONDS = 16, 0.004
"""Tokens that are written before Python sees them, at most, and how long they may take: nobody can
tell that from one by one."""

TURNED = 64
"""Rows of a matrix that become columns together: their lines stay in the cache meanwhile. A whole
matrix at once took seven times as long."""

PATIENCE, BYTES_TO_A_LOOK = 1_000_000, 80
"""Looks of the second thread for the next token before it goes to sleep, at least: about a
millisecond. And bytes of weights that make up for one more: it waits for a quarter of the time that
a token takes, for to come late costs a large model half a token."""


class CompiledDecoder:
    """Carries a plan out whose layers are all alike; see `engines.numpy.decoding.decoder`.

    Kernels are compiled before the first token, so that a person sees the text without a break.
    """

    def __init__(self, plan: Plan, cache: Any):
        self._cache = cache
        weights, dials = _weights(plan), _dials(plan)
        self._room = _room(weights, dials, cache.context)
        width = len(self._room.mixed) // plan.heads
        shape = (len(plan.layers), plan.key_value_heads, cache.context, width)
        keys, values = (_empty(shape, plan.embedding.dtype) for _ in range(2))
        for held, key, value in zip(cache.layers, keys, values, strict=True):
            held.hold(key[None], value[None])
        self._logits = _empty(weights.logits_bias.shape, plan.embedding.dtype)
        self._given = (weights, dials, self._room, keys, values, self._logits)
        self._newest = cache.newest = self._room.newest[None, None]
        make_ready(decoding_kernel.decode, *self._given, 0, 0, False)
        patience = max(PATIENCE, _bytes_of(weights) // BYTES_TO_A_LOOK)
        make_ready(decoding_kernel.share, *self._given, patience)
        self._written = np.empty(AT_ONCE, np.int64)
        nothing = np.empty(0), 0.0, np.empty(0, np.int64), self._written
        make_ready(decoding_kernel.write, *self._given, 0, 0, False, *nothing)
        self._pace, self._each = Pace(), SECONDS
        self._second = SecondThread(decoding_kernel.share, *self._given, patience)

    def __call__(self, token: int) -> np.ndarray:
        """The logits (vocab,) of what follows `token`, which is added to the cache."""
        self._take_over(token)
        begun, together = perf_counter(), self._pace.together
        decoding_kernel.decode(*self._given, token, self._cache.length, together)
        self._made(1, perf_counter() - begun)
        return self._logits

    @property
    def at_once(self) -> int:
        """Tokens that `write` makes well in one go: few while a second thread is tried."""
        return max(min(AT_ONCE, self._pace.steady, int(SECONDS / self._each)), 1)

    def write(self, token: int, goals: np.ndarray, factor: float, never: np.ndarray) -> list[int]:
        """The tokens that follow `token`, each drawn and added to the cache but for the last.

        Args:
            token: the newest.
            goals: for each, a number from 0 to 1 that says which is drawn; at most `at_once`.
            factor: 1 / temperature; 0 takes the most likely one.
            never: ids (int64) that are not written.

        Returns:
            One for each of `goals`; fewer where `logits` are not finite.
        """
        self._take_over(token)
        begun, together = perf_counter(), self._pace.together
        given = token, self._cache.length, together, goals, factor, never, self._written
        count = decoding_kernel.write(*self._given, *given)
        self._made(min(count + 1, len(goals)), perf_counter() - begun)
        return self._written[:count].tolist()

    @property
    def logits(self) -> np.ndarray:
        """The newest (vocab,)."""
        return self._logits

    def _take_over(self, token: int) -> None:
        if not 0 <= token < len(self._logits):  # a kernel would read beside the table
            check_ids(np.array([token]), len(self._logits))
        if self._cache.newest is not self._newest:  # a prompt was read, by the model itself
            self._newest[...] = self._cache.newest
            self._cache.newest = self._newest

    def _made(self, tokens: int, seconds: float) -> None:
        self._cache.advance(tokens)
        self._each = seconds / tokens
        self._pace.took(seconds, tokens)
        if self._pace.together and self._room.orders[STATE] == AWAY:
            self._second.call()


def _weights(plan: Plan) -> Weights:
    kind, first = plan.embedding.dtype, plan.layers[0]
    none = np.zeros((0, 0, 0), kind)
    parts = {
        "query_key_value": [layer.query_key_value for layer in plan.layers],
        "output": [layer.output for layer in plan.layers],
        "gate": [layer.gate for layer in plan.layers if layer.gate],
        "expand": [layer.expand for layer in plan.layers],
        "project": [layer.project for layer in plan.layers],
    }
    stacked = {name: _stacked(each) if each else none for name, each in parts.items()}
    biases = {f"{name}_bias": _biases(each, kind) for name, each in parts.items()}
    width = first.output.matrix.shape[0] // plan.heads
    turns = np.zeros((0, width // 2), np.complex64) if plan.turns is None else plan.turns
    return Weights(
        embedding=plan.embedding,
        shift=np.zeros(0, kind) if plan.shift is None else plan.shift,
        positions=np.zeros((0, 0), kind) if plan.positions is None else plan.positions.astype(kind),
        turns=np.stack([turns.real, turns.imag], -1).astype(kind),
        **stacked,
        **biases,
        logits=_stacked([plan.logits])[0],
        logits_bias=_biases([plan.logits], kind)[0],
    )


def _bytes_of(weights: Weights) -> int:
    """What is read for each token."""
    return sum(part.nbytes for part in weights) - weights.embedding.nbytes


def _empty(shape: tuple[int, ...], kind: Any) -> np.ndarray:
    """An array that begins where a line of the cache does: what is read is in fewer of them."""
    count = prod(shape) * np.dtype(kind).itemsize
    bytes_ = np.empty(count + LINE, np.uint8)
    begin = -bytes_.ctypes.data % LINE
    return bytes_[begin : begin + count].view(kind).reshape(shape)


def _stacked(parts: Sequence[Folded]) -> np.ndarray:
    """The matrices of all layers, a row for each output, so that each is read from end to end."""
    rows, columns = parts[0].matrix.shape
    stack = _empty((len(parts), columns, rows), parts[0].matrix.dtype)

    def turn(job: tuple[int, int]) -> None:
        number, begin = job
        some, part = slice(begin, begin + TURNED), parts[number]
        gain = 1 if part.gain is None else part.gain[some]
        np.multiply(part.matrix[some].T, gain, out=stack[number, :, some])

    share_out(
        lambda: turn, [(n, begin) for n in range(len(parts)) for begin in range(0, rows, TURNED)]
    )
    return stack


def _biases(parts: Sequence[Folded], kind: Any) -> np.ndarray:
    if not parts:
        return np.zeros((0, 0), kind)
    stack = np.zeros((len(parts), parts[0].matrix.shape[1]), kind)
    for each, part in zip(stack, parts, strict=True):
        if part.bias is not None:
            each[...] = part.bias
    return stack


def _dials(plan: Plan) -> Dials:
    first = plan.layers[0]
    return Dials(
        heads=plan.heads,
        key_value_heads=plan.key_value_heads,
        scale=float(plan.scale),
        head_epsilon=_epsilon(plan.norm_epsilon),
        activation=ACTIVATIONS[str(first.activation_name)],
        centre_1=first.query_key_value.centre,
        epsilon_1=_epsilon(first.query_key_value.epsilon),
        centre_2=first.expand.centre,
        epsilon_2=_epsilon(first.expand.epsilon),
        centre=plan.logits.centre,
        epsilon=_epsilon(plan.logits.epsilon),
        far=not made_by_amd(),
    )


def _epsilon(given: float | None) -> float:
    return -1.0 if given is None else float(given)


def _room(weights: Weights, dials: Dials, context: int) -> Room:
    kind, embed = weights.embedding.dtype, weights.embedding.shape[1]
    mixed, hidden = weights.output.shape[2], weights.project.shape[2]
    return Room(
        x=_empty((embed,), kind),
        newest=np.zeros(embed, kind),
        normal=_empty((THREADS, embed), kind),
        queries=_empty((mixed,), kind),
        scores=_empty((dials.heads, context), kind),
        powers=_empty((dials.heads, context), np.int32),
        shares=_empty(weights.logits_bias.shape, kind),
        share_bits=_empty(weights.logits_bias.shape, np.int32),
        mixed=_empty((mixed,), kind),
        sums=_empty((embed,), kind),
        hidden=_empty((hidden,), kind),
        bends=_empty((hidden,), kind),
        bits=_empty((hidden,), np.int32),
        arrived=np.zeros(THREADS * FAR_APART, np.int64),
        orders=np.zeros(FAR_APART, np.int64),
    )
