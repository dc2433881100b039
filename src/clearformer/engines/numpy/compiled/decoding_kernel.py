"""One more token through a whole decoder, in one call; two threads may share it.

Each weight is read once and in the order in which it lies in memory. Every number is computed by
one thread, in the same order whichever it is: any number of threads gives the same bits.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from clearformer.engines.numpy.compiled.atomics import swapped, tell, told
from clearformer.engines.numpy.compiled.kernel import kernel, piece, piece_in_order

PIECES = "e78da839ee54d2b4"
"""What `atomics.py` is: see `attention_kernel.PIECES`."""

FAR_APART = 16
"""Numbers between those of two threads: 128 bytes, so that they share no line of the cache."""

STATE, AT, LAYER, WANTED = 0, 1, 2, 3
"""Places in `Room.orders`: what the second thread does; where the first one wants it to begin;
whether the first one is at a token that it would share."""

AWAY, WAITING, ASKED = 0, 1, 2
"""States of the second thread."""

GELU, SQUARED_RELU, SILU = 0, 1, 2
"""How a kernel is told the activation."""

LEAST = 2e-38
"""A share below it is none: `_exponentiate` gives exp(-87) for all that is less."""

_ROOT, _CUBIC = 0.7978845608028654, 0.044715  # √(2/π), and the other number of GELU


class Weights(NamedTuple):
    """A plan with each kind of weight in one array, a row for each output.

    Biases are zero where there is none; `shift`, `positions`, `turns` and `gate` have length 0.
    """

    embedding: np.ndarray  # (vocab, embed)
    shift: np.ndarray  # (embed,)
    positions: np.ndarray  # (context, embed)
    turns: np.ndarray  # (context, width/2, 2): cosine and sine
    query_key_value: np.ndarray  # (layer, (heads + 2 key_value_heads) · width, embed)
    query_key_value_bias: np.ndarray
    output: np.ndarray  # (layer, embed, heads · width)
    output_bias: np.ndarray
    gate: np.ndarray  # (layer, hidden, embed)
    gate_bias: np.ndarray
    expand: np.ndarray  # (layer, hidden, embed)
    expand_bias: np.ndarray
    project: np.ndarray  # (layer, embed, hidden)
    project_bias: np.ndarray
    logits: np.ndarray  # (vocab, embed)
    logits_bias: np.ndarray


class Dials(NamedTuple):
    """What else a decoder is made of. A negative epsilon stands for no norm."""

    heads: int
    key_value_heads: int
    scale: float
    head_epsilon: float
    activation: int
    centre_1: bool
    epsilon_1: float
    centre_2: bool
    epsilon_2: float
    centre: bool
    epsilon: float
    far: bool
    """Whether two rows far apart are read at once, which makes some processors fetch more."""


class Room(NamedTuple):
    """Where the numbers on the way are written; made once."""

    x: np.ndarray  # (embed,)
    newest: np.ndarray  # (embed,): what the embedding gave for the token before
    normal: np.ndarray  # (thread, embed)
    queries: np.ndarray  # (heads · width,)
    scores: np.ndarray  # (heads, context)
    powers: np.ndarray  # (heads, context) int32
    shares: np.ndarray  # (vocab,): of a distribution to draw from
    share_bits: np.ndarray  # (vocab,) int32
    mixed: np.ndarray  # (heads · width,)
    sums: np.ndarray  # (embed,)
    hidden: np.ndarray  # (hidden,)
    bends: np.ndarray  # (hidden,)
    bits: np.ndarray  # (hidden,) int32
    arrived: np.ndarray  # (thread · FAR_APART,) int64: meetings that each thread has reached
    orders: np.ndarray  # (FAR_APART,) int64


@kernel("decoding")
def decode(
    weights: Any,
    dials: Any,
    room: Any,
    keys: Any,
    values: Any,
    logits: Any,
    token: int,
    at: int,
    together: bool,
) -> None:
    """Writes what follows `token`, at position `at`, to `logits`.

    Keys and values are (layer, head, context, width); the rows `at` are written. `together`: a
    thread that waits in `share` takes half of each layer from the next one on.
    """
    threads, orders = 1, room.orders
    tell(orders, WANTED, together)
    for i in range(len(room.x)):
        room.x[i] = weights.embedding[token, i]
        if len(weights.shift):
            if at:
                room.x[i] += weights.shift[i] * room.newest[i]
            room.newest[i] = weights.embedding[token, i]
        if len(weights.positions):
            room.x[i] += weights.positions[at, i]
    for layer in range(len(weights.output)):
        if together and threads == 1 and told(orders, STATE) == WAITING:
            orders[AT], orders[LAYER] = at, layer
            room.arrived[:] = 0
            threads = 2 if swapped(orders, STATE, WAITING, ASKED) else 1
        _go_through(weights, dials, room, keys[layer], values[layer], layer, at, 0, threads)
    _score(weights, dials, room, logits, 0, threads)
    tell(orders, WANTED, False)


@kernel("decoding")
def write(
    weights: Any,
    dials: Any,
    room: Any,
    keys: Any,
    values: Any,
    logits: Any,
    token: int,
    at: int,
    together: bool,
    goals: Any,
    factor: float,
    never: Any,
    written: Any,
) -> int:
    """Several tokens, each drawn and fed back in; returns how many.

    One for each of `goals`, numbers from 0 to 1, which say which token is drawn; fewer where logits
    are not finite, which then are those of the one that is missing. `factor` is 1 / temperature, or
    0: always the most likely one. Tokens in `never` are not written.
    """
    for n in range(len(goals)):
        decode(weights, dials, room, keys, values, logits, token, at + n, together)
        for i in never:
            logits[i] = -np.inf
        token = _drawn(logits, room.shares, room.share_bits, goals[n], factor)
        if token < 0:
            return n
        written[n] = token
    return len(goals)


@piece
def _drawn(logits: Any, shares: Any, bits: Any, goal: float, factor: float) -> int:
    """As `generation.sampling.draw`; -1 if anything is not finite that must be."""
    best = 0
    for i in range(len(logits)):
        if logits[i] != logits[i]:
            return -1
        if logits[i] > logits[best]:
            best = i
    highest = logits[best]
    if not np.isfinite(highest):
        return -1
    if factor == 0:
        return best
    scale = logits.dtype.type(factor)
    for i in range(len(logits)):
        shares[i] = (logits[i] - highest) * scale
    _exponentiate(shares, bits)
    for i in range(len(shares)):
        if shares[i] < LEAST:
            shares[i] = 0
    return _reached(shares, goal)


@piece_in_order
def _reached(shares: Any, goal: float) -> int:
    """The first place at which the shares so far come to more than `goal` of all."""
    total, before, last = 0.0, 0.0, 0
    for i in range(len(shares)):
        total += shares[i]
    for i in range(len(shares)):
        before += shares[i]
        if before > goal * total:
            return i
        if shares[i] > 0:
            last = i
    return last


@kernel("decoding")
def share(
    weights: Any, dials: Any, room: Any, keys: Any, values: Any, logits: Any, patience: int
) -> None:
    """Takes half of each token that another thread decodes, until none comes for a while.

    `patience` is how often it looks between two tokens, each time for about a nanosecond.
    """
    orders = room.orders
    tell(orders, STATE, WAITING)
    while True:
        looks = 0
        while told(orders, STATE) == WAITING:
            looks = 0 if told(orders, WANTED) else looks + 1
            if looks >= patience and swapped(orders, STATE, WAITING, AWAY):
                return
        at = orders[AT]
        for layer in range(orders[LAYER], len(weights.output)):
            _go_through(weights, dials, room, keys[layer], values[layer], layer, at, 1, 2)
        _score(weights, dials, room, logits, 1, 2)
        tell(orders, STATE, WAITING)


@piece
def _go_through(
    weights: Any,
    dials: Any,
    room: Any,
    keys: Any,
    values: Any,
    layer: int,
    at: int,
    thread: int,
    threads: int,
) -> None:
    """A thread's part of one block; x is whole before and after."""
    x, normal = room.x, room.normal[thread]
    top, bottom = _part(len(x), thread, threads)
    begin, end = _part(dials.key_value_heads, thread, threads)
    _normalise(x, dials.centre_1, dials.epsilon_1, normal)
    for head in range(begin, end):
        _look(weights, dials, room, keys, values, layer, head, at, normal)
    _meet(room.arrived, thread, threads)
    matrix, bias = weights.output[layer], weights.output_bias[layer]
    _add_through(matrix, bias, room.mixed, top, x[top:bottom], room.sums[top:bottom], dials.far)
    _meet(room.arrived, thread, threads)
    begin, end = _part(len(room.hidden), thread, threads)
    _normalise(x, dials.centre_2, dials.epsilon_2, normal)
    _bend(weights, dials, room, layer, normal, begin, end)
    _meet(room.arrived, thread, threads)
    matrix, bias = weights.project[layer], weights.project_bias[layer]
    _add_through(matrix, bias, room.hidden, top, x[top:bottom], room.sums[top:bottom], dials.far)
    _meet(room.arrived, thread, threads)


@piece
def _score(weights: Any, dials: Any, room: Any, logits: Any, thread: int, threads: int) -> None:
    """A thread's part of the logits."""
    normal = room.normal[thread]
    _normalise(room.x, dials.centre, dials.epsilon, normal)
    begin, end = _part(len(logits), thread, threads)
    _through(weights.logits, weights.logits_bias, normal, begin, logits[begin:end], dials.far)
    _meet(room.arrived, thread, threads)


@piece
def _look(
    weights: Any,
    dials: Any,
    room: Any,
    keys: Any,
    values: Any,
    layer: int,
    head: int,
    at: int,
    normal: Any,
) -> None:
    """One head of keys and values, and the heads of queries that share it."""
    width, shared_by = keys.shape[-1], dials.heads // dials.key_value_heads
    turn = weights.turns[at] if len(weights.turns) else weights.turns[:0, 0]
    matrix, bias = weights.query_key_value[layer], weights.query_key_value_bias[layer]
    key_row = (dials.heads + head) * width
    value_row = key_row + dials.key_value_heads * width
    key, value = keys[head, at], values[head, at]
    _through(matrix, bias, normal, key_row, key, dials.far)
    _through(matrix, bias, normal, value_row, value, dials.far)
    _place(key, dials.head_epsilon, turn)
    for each in range(head * shared_by, (head + 1) * shared_by):
        query = room.queries[each * width : (each + 1) * width]
        _through(matrix, bias, normal, each * width, query, dials.far)
        _place(query, dials.head_epsilon, turn)
        mixed = room.mixed[each * width : (each + 1) * width]
        scores, powers = room.scores[each], room.powers[each]
        _mix(query, keys[head], values[head], at, dials.scale, scores, powers, mixed)


@piece
def _mix(
    query: Any,
    keys: Any,
    values: Any,
    at: int,
    scale: float,
    scores: Any,
    powers: Any,
    mixed: Any,
) -> None:
    """softmax(query · keys) · values over the positions up to `at`."""
    factor = query.dtype.type(scale)
    highest = -query.dtype.type(np.inf)
    for t in range(at + 1):
        scores[t] = factor * _dot(query, keys[t])
        highest = max(highest, scores[t])
    for t in range(at + 1):
        scores[t] -= highest
    _exponentiate(scores[: at + 1], powers)
    _add_rows(scores, values, at + 1, mixed)
    total = scores[: at + 1].sum()
    for i in range(len(mixed)):
        mixed[i] /= total


@piece
def _add_rows(shares: Any, rows: Any, count: int, sums: Any) -> None:
    """Σ shares · rows over the first so many, four at a time: a sum is read and written once."""
    sums[:] = 0
    even = count - count % 4
    for t in range(0, even, 4):
        a, b, c, d = shares[t], shares[t + 1], shares[t + 2], shares[t + 3]
        row_a, row_b, row_c, row_d = rows[t], rows[t + 1], rows[t + 2], rows[t + 3]
        for i in range(len(sums)):
            sums[i] += a * row_a[i] + b * row_b[i] + c * row_c[i] + d * row_d[i]
    for t in range(even, count):
        row = rows[t]
        for i in range(len(sums)):
            sums[i] += shares[t] * row[i]


@piece
def _place(row: Any, epsilon: float, turn: Any) -> None:
    """Normalises a query or key, and turns its pairs by its position."""
    if epsilon >= 0:
        size = row.dtype.type(1 / sqrt(_dot(row, row) / len(row) + epsilon))
        for i in range(len(row)):
            row[i] *= size
    for pair in range(len(turn)):
        a, b, c, s = row[2 * pair], row[2 * pair + 1], turn[pair, 0], turn[pair, 1]
        row[2 * pair] = a * c - b * s
        row[2 * pair + 1] = a * s + b * c


@piece
def _bend(
    weights: Any, dials: Any, room: Any, layer: int, normal: Any, begin: int, end: int
) -> None:
    """The hidden numbers begin … end."""
    hidden, bends = room.hidden[begin:end], room.bends[begin:end]
    number, activation = hidden.dtype.type, dials.activation
    matrix, bias = weights.expand[layer], weights.expand_bias[layer]
    _through(matrix, bias, normal, begin, hidden, dials.far)
    if activation == SQUARED_RELU:
        for i in range(len(hidden)):
            h = hidden[i]
            hidden[i] = number(0) if h < 0 else h * h  # what is no number stays none
        return
    if activation == GELU:
        for i in range(len(hidden)):
            h = hidden[i]
            bends[i] = -number(2 * _ROOT) * (h + number(_CUBIC) * h * h * h)
    else:
        matrix, bias = weights.gate[layer], weights.gate_bias[layer]
        _through(matrix, bias, normal, begin, bends, dials.far)
        for i in range(len(hidden)):
            hidden[i] *= bends[i]
            bends[i] = -bends[i]
    _exponentiate(bends, room.bits[begin:end])
    for i in range(len(hidden)):  # 1/2 (1 + tanh u) = 1 / (1 + exp(-2 u))
        hidden[i] /= number(1) + bends[i]


@piece
def _normalise(x: Any, centre: bool, epsilon: float, normal: Any) -> None:
    """(x - mean) / size; the mean where `centre` is set, the size where there is an epsilon."""
    mean, size = x.dtype.type(0), x.dtype.type(1)
    if centre:
        mean = x.sum() / x.dtype.type(len(x))
    for i in range(len(x)):
        normal[i] = x[i] - mean
    if epsilon >= 0:
        size = x.dtype.type(1 / sqrt(_dot(normal, normal) / len(x) + epsilon))
    for i in range(len(x)):
        normal[i] *= size


@piece
def _through(matrix: Any, bias: Any, x: Any, begin: int, result: Any, far: bool) -> None:
    """The rows of a matrix from `begin` on, times x; `far`: two at once, half of them apart."""
    if not far:
        for i in range(len(result)):
            result[i] = _dot(matrix[begin + i], x) + bias[begin + i]
        return
    half = (len(result) + 1) // 2
    for i in range(half):
        j = min(i + half, len(result) - 1)  # of an odd number the last one is made twice
        one, other = _two(matrix[begin + i], matrix[begin + j], x)
        result[i], result[j] = one + bias[begin + i], other + bias[begin + j]


@piece
def _add_through(
    matrix: Any, bias: Any, x: Any, begin: int, result: Any, sums: Any, far: bool
) -> None:
    """Adds what `_through` gives, with room for the sums."""
    _through(matrix, bias, x, begin, sums, far)
    for i in range(len(result)):
        result[i] += sums[i]


@piece_in_order
def _exponentiate(x: Any, bits: Any) -> None:
    """exp of each number in place. In float32 as 2^k · exp(r), which the compiler vectorises.

    k is a whole number and |r| ≤ ln 2 / 2; exp(r) by a polynomial (Cephes' expf), 2^k by writing k
    into the exponent of a float32. ln 2 is taken away in two parts, the first without rounding.
    Not below exp(-87) and not above exp(88).
    """
    if x.itemsize == 8:
        for i in range(len(x)):
            x[i] = np.exp(x[i])
        return
    single = np.float32
    for i in range(len(x)):
        v = single(x[i])
        v = single(-87) if v < single(-87) else v
        v = single(88) if v > single(88) else v
        k = np.floor(v * single(1.44269504) + single(0.5))
        r = v - k * single(0.693359375) + k * single(2.12194440e-4)
        p = single(1.9875691500e-4) * r + single(1.3981999507e-3)
        p = p * r + single(8.3334519073e-3)
        p = p * r + single(4.1665795894e-2)
        p = p * r + single(1.6666665459e-1)
        p = p * r + single(5.0000001201e-1)
        x[i] = p * r * r + r + single(1)
        bits[i] = (np.int32(k) + np.int32(127)) << np.int32(23)
    powers = bits.view(np.float32)
    for i in range(len(x)):
        x[i] *= powers[i]


@piece
def _dot(a: Any, b: Any) -> Any:
    total = a.dtype.type(0)
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@piece
def _two(a: Any, b: Any, x: Any) -> Any:
    """The sums of a and of b times x, each in the same order, whichever it is."""
    one, other = x.dtype.type(0), x.dtype.type(0)
    for i in range(len(x)):
        one += a[i] * x[i]
        other += b[i] * x[i]
    return one, other


@piece
def _part(items: int, thread: int, threads: int) -> tuple[int, int]:
    """From where to where a thread's part goes."""
    return items * thread // threads, items * (thread + 1) // threads


@piece
def _meet(arrived: Any, thread: int, threads: int) -> None:
    """Waits until all threads have come here."""
    if threads == 1:
        return
    meeting = arrived[thread * FAR_APART] + 1
    tell(arrived, thread * FAR_APART, meeting)
    for other in range(threads):
        while told(arrived, other * FAR_APART) < meeting:
            pass
