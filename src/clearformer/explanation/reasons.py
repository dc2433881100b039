"""Where a number comes from, and why scores are divided: with the numbers of this sentence."""

from collections.abc import Iterator
from math import exp, log, sqrt

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.explanation.lines import JOINT, Line, shortened
from clearformer.explanation.page import Page
from clearformer.explanation.tables import Table, number, table_lines
from clearformer.explanation.trace import Stage
from clearformer.ops import softmax

MOST_LOOKED_AT = 8
"""Columns of the table with and without the division."""
TERMS = 3
"""So many terms of a sum are written out."""


def worked_shift(page: Page, stage: Stage) -> Iterator[Line]:
    """One number that is made of two tokens, and between which bounds the shares are."""
    shares = array_of(page.trace.subject.model.shift.share)
    vectors, found = page.table(page.trace.stage("embedding")), float(page.table(stage)[-1, 0])
    own, before = float(vectors[-1, 0]), float(vectors[-2, 0]) if len(vectors) > 1 else 0.0
    share = float(shares[0])
    if len(vectors) > 1 and np.isclose(own + share * before, found, rtol=1e-3, atol=1e-3):
        last = _short(page, len(vectors) - 1)
        text = f"{number(own)} + {number(share)}{JOINT}×{JOINT}{number(before)} = {number(found)}"
        yield from page.prose(f"For example shifted[{last}, 0] = {text}", "faint")
    low, high = number(float(shares.min())), number(float(shares.max()))
    yield from page.prose(f"The shares of this model are between {low} and {high}.", "faint")


def worked_product(page: Page) -> Iterator[Line]:
    """One cell of the products, as the sum it is."""
    query, key = page.of_block("attention.query"), page.of_block("attention.key")
    row, column = len(query) - 1, 0
    name = f"products[{_short(page, row)}, {_short(page, column)}]"
    total = float(page.of_block("attention.products")[row, column])
    yield from _sum(page, name, query[row], key[column], total)


def worked_score(page: Page) -> Iterator[Line]:
    """One score: a product, divided."""
    product = float(page.of_block("attention.products")[-1, 0])
    score = float(page.of_block("attention.scores")[-1, 0])
    root = sqrt(page.facts.width)
    if np.isclose(product / root, score, rtol=1e-3, atol=1e-3):
        cell = f"[{_short(page, len(page.labels) - 1)}, {_short(page, 0)}]"
        text = f"scores{cell} = {number(product)} / {root:.3f} = {number(score)}"
        yield from page.prose(f"For example {text}", "faint")


def worked_mix(page: Page) -> Iterator[Line]:
    """One mixed number: each token's weight times its value, added up."""
    weights, value = page.of_block("attention.weights"), page.of_block("attention.value")
    row = len(weights) - 1
    total = float(page.of_block("attention.mixed")[row, 0])
    yield from _sum(page, f"mixed[{_short(page, row)}, 0]", weights[row], value[:, 0], total)


def strongest(page: Page, row: int) -> Iterator[Line]:
    """In words, what a row of the weights says."""
    weights = page.of_block("attention.weights")[row]
    order = np.argsort(-weights, kind="stable").tolist()
    most = [f"{_named(page, i)} ({number(float(weights[i]))})" for i in order[:2]]
    second = f", then from {most[1]}" if len(most) > 1 and weights[order[1]] > 0 else ""
    yield from page.prose(f"“{page.labels[row]}” takes most from {most[0]}{second}.")


def why_divide(page: Page) -> Iterator[Line]:
    """The weights of one row with the division by √width and without it."""
    products, width = page.of_block("attention.products"), page.facts.width
    hindrance = _nothing_to_compare(page, products)
    if hindrance:
        yield from page.prose(hindrance, "note")
        return
    allowed = np.ones(products.shape, bool) if page.masked is None else ~page.masked
    root = products.dtype.type(sqrt(width))
    divided = np.asarray(softmax(np.where(allowed, products / root, -np.inf)))
    plain = np.asarray(softmax(np.where(allowed, products, -np.inf)))
    with_, without = _entropies(divided), _entropies(plain)
    row = int(np.argmax(with_ - without))
    seen = int(allowed[row].sum())
    spread = float(products[allowed].std())
    yield ()
    yield from page.prose(f"Why are the products divided by √{width} = {root:.3f}?", "title")
    yield from page.prose(
        f"Each product adds up {width} terms, which spreads the products about √{width} times as "
        f"far apart as single terms. Here their standard deviation is {number(spread)}, and "
        f"{number(spread / float(root))} after the division. From numbers far apart softmax gives "
        "nearly everything to the largest; the others then hardly count, and hardly learn. The "
        f"row of “{page.labels[row]}”, where it shows most:"
    )
    yield from _two_rows(page, np.stack([divided[row], plain[row]]), ~allowed[row])
    yield from page.prose(
        f"Spread over about {exp(with_[row]):.1f} tokens with the division, "
        f"{exp(without[row]):.1f} without (entropy {with_[row]:.3f} and {without[row]:.3f} nats; "
        f"0 is all on one token, ln {seen} = {log(seen):.3f} the same for all {seen})."
    )


def _nothing_to_compare(page: Page, products: np.ndarray) -> str:
    """Why the division cannot be shown here; empty when it can."""
    scores = {page.block(f"attention.{name}") for name in ("scores", "masked_scores", "weights")}
    if scores & {name for name, _ in page.trace.edits} or not np.isfinite(products).all():
        return "What the division by √width does cannot be shown here: the numbers are edited."
    if page.facts.largest_score is not None:
        return (
            "Products are not divided by √width here: normalised queries and keys cannot grow. "
            "In the classic recipe they can, and are."
        )
    if len(products) == 1:
        return "A longer sentence shows here why the products are divided by √width."
    if page.facts.width == 1:
        return "Each head has a width of 1, so the division changes nothing."
    return ""


def _two_rows(page: Page, weights: np.ndarray, masked: np.ndarray) -> Iterator[Line]:
    """A row of weights with and without the division; of a long row, what is looked at most."""
    most = np.argsort(-weights.max(0), kind="stable")[:MOST_LOOKED_AT]
    picked = np.sort(most) if weights.shape[1] > MOST_LOOKED_AT else np.arange(weights.shape[1])
    table = Table(
        ("divided", "not divided"),
        [page.labels[column] for column in picked],
        weights[:, picked],
        np.stack([masked[picked]] * 2),
        axis="key",
        strong=True,
    )
    yield from table_lines(table, page.width)
    if len(picked) < weights.shape[1]:
        rest = weights.shape[1] - len(picked)
        tokens = "token" if rest == 1 else "tokens"
        yield from page.prose(f"… {rest} more {tokens}, with smaller weights", "note")


def _entropies(weights: np.ndarray) -> np.ndarray:
    """In nats, of each row."""
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropies: np.ndarray = np.maximum(-(weights * logs).sum(-1), 0)
    return entropies


def _sum(page: Page, name: str, a: np.ndarray, b: np.ndarray, total: float) -> Iterator[Line]:
    found = float(np.dot(a.astype(np.float64), b.astype(np.float64)))
    if not np.isclose(found, total, rtol=1e-3, atol=1e-3):
        return  # edited: the number is no longer this sum
    count = len(a) if len(a) <= TERMS + 1 else TERMS
    terms = [f"{number(float(a[i]))}{JOINT}×{JOINT}{number(float(b[i]))}" for i in range(count)]
    more = f" + …{JOINT}({len(a) - count}{JOINT}more)" if count < len(a) else ""
    text = f"{name} = {' + '.join(terms)}{more} = {number(total)}"
    yield from page.prose(f"For example {text}", "faint")


def _named(page: Page, position: int) -> str:
    """A token in quotation marks; with its position where it occurs more than once."""
    token = page.labels[position]
    where = f" at position {position}" if page.labels.count(token) > 1 else ""
    return f"“{token}”{where}"


def _short(page: Page, position: int) -> str:
    return shortened(page.labels[position], 10)
