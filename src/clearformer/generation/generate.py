"""Generating: one token after another, each fed back in."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from clearformer.engines.dispatch import array_of, engine_of
from clearformer.generation.plan import is_compiled, plan_of
from clearformer.generation.sampling import Sampling, draw
from clearformer.models.cache import KeyValueCache
from clearformer.models.recurrent.model import RecurrentModel
from clearformer.models.recurrent.state import RecurrentState
from clearformer.tensor import Float

AT_ONCE = 1024
"""Tokens of a prompt that a recurrent model reads in one go: any number of them fits into memory.
"""


def window_start(length: int, context: int) -> int:
    """Where the model's window begins in a sequence of `length` tokens.

    While everything fits it begins at 0. After that it slides in jumps of half a context, so that a
    cache stays valid between two jumps; the model sees between half a context and a whole one.
    """
    if length <= context:
        return 0
    jump = max(context // 2, 1)
    return -(-(length - context) // jump) * jump


def generate(
    model: Any,
    prompt: Sequence[int],
    tokens: int,
    *,
    context: int | None,
    sampling: Sampling,
    rng: np.random.Generator,
    cached: bool = True,
    never: Sequence[int] = (),
) -> Iterator[int]:
    """Gives `tokens` new ids one by one, after the prompt's, which holds at least one.

    What is made once, such as compiled kernels, is made in this call, before the first of them.

    With `cached` the keys and values of earlier positions are kept, or a recurrent model's state;
    without, everything is computed anew for each token. Both give the same tokens. Ids in `never`
    are not written. A `context` of None is without a limit.
    """
    scores = _scores(model, context, cached, tokens)
    unwanted = np.array(list(never), np.int64)
    return _drawn(scores, list(prompt), tokens, sampling, rng, unwanted)


def _drawn(
    scores: "_Scores",
    ids: list[int],
    tokens: int,
    sampling: Sampling,
    rng: np.random.Generator,
    never: np.ndarray,
) -> Iterator[int]:
    left = tokens
    while left > 0:
        new = scores.written(ids, left, sampling, rng, never)
        if not new:
            logits = scores.after(ids)
            if len(never):
                logits[never] = -np.inf
            new = [draw(logits, sampling, rng)]
        left -= len(new)
        ids += new
        yield from new


class _Scores(ABC):
    """What tells the scores of the next token, for all tokens so far."""

    @abstractmethod
    def after(self, ids: list[int]) -> Float[np.ndarray, " vocab"]:
        """Those of what follows `ids`; the caller may change them."""

    def written(
        self,
        ids: list[int],
        most: int,
        sampling: Sampling,
        rng: np.random.Generator,
        never: np.ndarray,
    ) -> list[int]:
        """Some of the tokens that follow, at most so many, as `draw` would draw them; or none."""
        return []


def _scores(model: Any, context: int | None, cached: bool, tokens: int) -> _Scores:
    if isinstance(model, RecurrentModel):
        return _Remembered(model, cached)
    longest = sys.maxsize if context is None else context
    return _Cached(model, longest, tokens) if cached else _Uncached(model, longest)


class _Remembered(_Scores):
    """Computed from the newest token and the state; uncached from all tokens and none."""

    def __init__(self, model: RecurrentModel, cached: bool):
        self._model = model
        self._cached = cached
        self._state, self._read = RecurrentState(len(model.layers)), 0

    def after(self, ids: list[int]) -> Float[np.ndarray, " vocab"]:
        if not self._cached:
            self._state, self._read = RecurrentState(len(self._model.layers)), 0
        while self._read < len(ids):
            new = ids[self._read : self._read + AT_ONCE]
            logits = self._model(np.array([new]), state=self._state)
            self._read += len(new)
        return array_of(logits[0, -1])  # type: ignore[index]


class _Uncached(_Scores):
    """The scores of the next token, computed from the whole window."""

    def __init__(self, model: Any, context: int):
        self._model = model
        self._context = context

    def after(self, ids: list[int]) -> Float[np.ndarray, " vocab"]:
        window = ids[window_start(len(ids), self._context) :]
        return array_of(self._model(np.array([window]))[0, -1])


class _Cached(_Scores):
    """The same, computed from the newest token and the cache."""

    def __init__(self, model: Any, context: int, tokens: int):
        self._model = model
        self._context = context
        self._cache = KeyValueCache(len(model.blocks), context)
        self._start = 0
        self._decode: Callable[[int], np.ndarray] | None = None
        if plan := plan_of(model):
            engine = engine_of(plan.embedding)
            self._decode = engine.decoder(plan, self._cache, is_compiled(model, tokens))
        self._writer: Any = self._decode if hasattr(self._decode, "write") else None

    def after(self, ids: list[int]) -> Float[np.ndarray, " vocab"]:
        start = window_start(len(ids), self._context)
        if start != self._start:  # the window jumped: what is cached saw what is now gone
            self._cache.clear()
            self._start = start
        new = ids[start + self._cache.length :]
        if len(new) == 1 and self._decode:
            return self._decode(new[0])
        return array_of(self._model(np.array([new]), cache=self._cache)[0, -1])

    def written(
        self,
        ids: list[int],
        most: int,
        sampling: Sampling,
        rng: np.random.Generator,
        never: np.ndarray,
    ) -> list[int]:
        """By a compiled kernel, which draws by itself where nothing but `never` is left out."""
        writer, held = self._writer, self._cache.length
        if writer is None or not sampling.is_plain:
            return []
        if len(ids) != self._start + held + 1 or held == self._context:
            return []
        count = min(writer.at_once, most, self._context - held)
        goals = np.zeros(count) if sampling.temperature == 0 else rng.random(count)
        new = writer.write(ids[-1], goals, sampling.factor, never)
        if len(new) < count:  # logits that are not finite, which is refused here
            new.append(draw(writer.logits, sampling, rng))
        return new
