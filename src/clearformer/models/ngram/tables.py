"""Tables from a file, checked before anything is looked up in them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from clearformer.errors import ShapeError
from clearformer.models.ngram.counting import LARGEST_ORDER
from clearformer.models.ngram.level import Level

NAMES = tuple(field.name for field in fields(Level))


def levels_of(parameters: Mapping[str, Any], vocabulary: int) -> tuple[Level, ...]:
    """The levels whose tables are called `levels.0.starts`, `levels.0.tokens`, ….

    Raises:
        ShapeError: tables that are missing, or contradict each other or the vocabulary.
    """
    order, rest = divmod(len(parameters), len(NAMES))
    wanted = {f"levels.{number}.{name}" for number in range(order) for name in NAMES}
    if rest or not 1 <= order <= LARGEST_ORDER or wanted != parameters.keys():
        raise ShapeError(
            f"an n-gram model is made of levels.0.{', levels.0.'.join(NAMES)} and so on for each "
            f"of 1 … {LARGEST_ORDER} levels; got {len(parameters)} tables"
        )
    levels: list[Level] = []
    contexts = 1
    for number in range(order):
        tables = {name: np.asarray(parameters[f"levels.{number}.{name}"]) for name in NAMES}
        if fault := _fault(tables, contexts, vocabulary):
            raise ShapeError(f"level {number} of an n-gram model is damaged: {fault}")
        levels.append(Level(**tables))
        contexts = len(tables["tokens"])
    return tuple(levels)


def _fault(tables: dict[str, Any], contexts: int, vocabulary: int) -> str | None:
    starts, tokens, counts = (tables[name] for name in NAMES)
    for name, table in tables.items():
        if table.ndim != 1 or table.dtype.kind not in "iu":
            return f"{name} must be a flat row of whole numbers"
    if len(starts) != contexts + 1 or len(counts) != len(tokens):
        return (
            f"{contexts:,} contexts and {len(tokens):,} tokens do not fit "
            f"{len(starts):,} starts and {len(counts):,} counts"
        )
    if starts[0] != 0 or starts[-1] != len(tokens) or (starts[1:] < starts[:-1]).any():
        return f"starts must rise from 0 to {len(tokens):,}"
    if not len(tokens):
        return None
    if not 0 <= int(tokens.min()) <= int(tokens.max()) < vocabulary:
        return f"tokens must be 0 … {vocabulary - 1}"
    rising = tokens[1:] > tokens[:-1]
    begins = starts[1:-1].astype(np.int64)  # of the contexts but the first: there it may fall
    rising[begins[(begins > 0) & (begins < len(tokens))] - 1] = True
    if not rising.all():
        return "the tokens of a context must rise"
    if int(counts.min()) < 1:
        return "counts must be at least 1"
    return None
