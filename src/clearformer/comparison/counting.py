"""What counting alone reaches: the n-gram model beside those that are trained."""

import time
from dataclasses import asdict
from typing import Any

from clearformer.comparison.course import Counted
from clearformer.comparison.document import Result
from clearformer.comparison.entrants import Entrant
from clearformer.engines.choose import choose_engine
from clearformer.models.ngram.best_order import best_order
from clearformer.models.ngram.fit import fit
from clearformer.models.ngram.model import NGram


def count(entrant: Entrant, ground: Counted) -> dict[str, Any]:
    """Chooses the order by a part of what may be counted, counts all of that, and judges.

    Returns:
        {"result", "order", "losses"}: the last in nats, of the orders 1, 2, … that were tried;
        none where the order was given.
    """
    begun = time.monotonic()
    losses: tuple[float, ...] = ()
    order = entrant.dials.get("order")
    if order is None:
        best = best_order(ground.ids, ground.vocabulary)
        order, losses = best.order, best.losses
    model = fit(ground.ids, ground.vocabulary, order)
    seconds = time.monotonic() - begun
    score, tokens = ground.judge(model), len(ground.ids)
    result = Result(
        model=entrant.name,
        seed=0,
        parameters=size_of(model),
        tokens=tokens,
        seconds=seconds,
        tokens_per_second=tokens / seconds if seconds else None,
        loss=score.loss,
        bits_per_character=score.bits_per_character,
        perplexity=score.perplexity,
        accuracy=score.accuracy,
        memory=choose_engine("numpy").height_of(lambda: fit(ground.ids, ground.vocabulary, order)),
        learning_rate=None,
    )
    return {"result": asdict(result), "order": order, "losses": list(losses)}


def size_of(model: NGram) -> int:
    """Numbers in its tables."""
    return sum(int(table.size) for table in model.parameters().values())
