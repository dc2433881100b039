"""The end of an explanation: all heads at a glance, what comes next, and what to try next."""

import shlex
from collections.abc import Iterator
from math import isnan

import numpy as np

from clearformer.explanation.lines import (
    Line,
    Segment,
    cell_width,
    left,
    right,
    shortened,
    visible,
)
from clearformer.explanation.page import Page
from clearformer.explanation.tables import TABLE_INDENT, number

MOST_HEADS = 32
BAR = 32
"""Columns of a bar that stands for probability 1."""
EIGHTHS = " ▏▎▍▌▋▊▉"


def heads_at_a_glance(page: Page) -> Iterator[Line]:
    """Where the token whose prediction is told of looks most, in every head of the trace."""
    layers = page.facts.layers if page.trace.subject.layer is None else 1
    heads = page.facts.heads if page.trace.subject.head is None else 1
    if layers * heads == 1:
        return
    yield from page.prose(
        f"Every head looks in its own way. What {page.placed} takes most from: position, token "
        "and weight."
    )
    rows = list(_heads(page))
    for layer, head, weights in rows[:MOST_HEADS]:
        order = np.argsort(-weights, kind="stable")[: 3 if page.width >= 80 else 2].tolist()
        line = [Segment(f"{TABLE_INDENT}layer {layer}  head {head:<3}", "label")]
        for id in order:
            token = left(f"{id:>3} {shortened(page.labels[id], 8)}", 12)
            line.append(Segment(f"{token} {number(float(weights[id]))}", "number"))
        yield tuple(line)
    if len(rows) > MOST_HEADS:
        yield from page.prose(f"… {len(rows) - MOST_HEADS} more heads: choose a layer.", "note")


def _heads(page: Page) -> Iterator[tuple[int, int, np.ndarray]]:
    """Layer, head and the weights (key,) of that token."""
    for layer in range(page.facts.layers):
        name = f"blocks.{layer}.attention.weights"
        if name in page.trace:
            stage = page.trace.stage(name)
            tables = stage.values[0] if "head" in stage.axes else stage.values
            first = page.trace.subject.head or 0
            for head, table in enumerate(tables):
                yield layer, first + head, table[page.place]


def next_tokens(page: Page) -> Iterator[Line]:
    """The most likely next tokens as bars; after edits, with what they were before."""
    before = page.trace.before
    label = max(cell_width(_label(token)) for token, _ in page.trace.next)
    if before is not None:
        heading = f"{TABLE_INDENT}{' ' * label}  {'now':>5}  {'before':>6}"
        yield (Segment(heading, "faint"),)
    earlier = _before(page)
    room = min(BAR, page.width - len(TABLE_INDENT) - label - 20)
    for place, (token, probability) in enumerate(page.trace.next):
        line = [
            Segment(TABLE_INDENT + left(_label(token), label), "label"),
            Segment(f"  {right(number(probability), 5)}", "strong"),
        ]
        if before is not None:
            line.append(Segment(f"   {right(number(earlier[place]), 5)}", "faint"))
        line.append(Segment(f"  {_bar(probability, room)}", "formula"))
        yield tuple(line)
    rest = page.facts.vocabulary - len(page.trace.next)
    if rest > 0:
        share = max(0.0, 1 - sum(p for _, p in page.trace.next))
        yield from page.prose(f"… {rest:,} other tokens share {number(share)}", "note")


def _before(page: Page) -> list[float]:
    """What the probabilities of the listed tokens were without the edits."""
    if page.trace.before is None:
        return []
    now = page.trace.stage("probabilities").values[0, page.place]
    order = np.argsort(-now, kind="stable")[: len(page.trace.next)]
    return [float(page.trace.before[id]) for id in order]


def _label(token: str) -> str:
    return shortened(visible(token), 20)


def _bar(share: float, width: int) -> str:
    eighths = 0 if isnan(share) else round(min(max(share, 0.0), 1.0) * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip() or "▏"


def what_now(page: Page) -> Iterator[Line]:
    """What the numbers are worth, and commands to go on with."""
    if page.facts.trained:
        edit = f"blocks.{page.layer}.attention.mixed=0"
        yield from after_a_run(page, edit, "silences a whole layer of attention")
        return
    yield from page.prose(
        "All matrices of this model are random until it is trained: the steps are real, but the "
        "prediction means nothing yet. Train one on a text of your own, and look inside it with "
        "the same command:"
    )
    sentence = _quoted(page, "--run runs/my-text")
    yield from _commands(
        "clearformer train my-text.txt", f"clearformer explain {sentence} --run runs/my-text"
    )
    variants = []
    if page.facts.shared:
        variants.append("--projections separate")
    if not page.facts.causal:
        variants.append("--causal")
    if page.facts.heads == 1:
        variants.append("--heads 2")
    if variants:
        yield from page.prose("Or change one thing here and see what follows from it:")
        yield from _commands(*(f"clearformer explain {sentence} {v}" for v in variants))


def after_a_run(page: Page, edit: str, does: str) -> Iterator[Line]:
    """Commands for other layers and heads, and one for an edit that does something."""
    commands, others = [], []
    if page.facts.layers > 1:
        commands.append(f"--layer {(page.layer + 1) % page.facts.layers}")
        others.append("layer")
    if page.facts.heads > 1:
        commands.append(f"--head {(page.head + 1) % page.facts.heads}")
        others.append("head")
    commands.append(f"--edit {edit}")
    run = f"--run {shlex.quote(visible(str(page.trace.subject.path)))}"
    sentence = _quoted(page, f"{run} {commands[-1]}")
    yield from page.prose(
        f"Look at another {' or '.join(others)}, or ask what if: the last line {does} and shows "
        "what the prediction becomes."
        if others
        else f"Ask what if: this {does} and shows what the prediction becomes."
    )
    yield from _commands(*(f"clearformer explain {sentence} {run} {c}" for c in commands))


def _quoted(page: Page, more: str) -> str:
    """The sentence as it would be typed, when it is plain and leaves room in the line for more."""
    sentence = page.trace.subject.sentence
    command = f"{TABLE_INDENT}clearformer explain {shlex.quote(sentence)} {more}"
    fits = cell_width(command) <= max(page.width, 80)
    plain = sentence.isprintable() and fits and sentence[0] != "-"
    return shlex.quote(sentence) if plain else '"…"'


def _commands(*commands: str) -> Iterator[Line]:
    for command in commands:
        yield (Segment(TABLE_INDENT), Segment(command, "formula"))
