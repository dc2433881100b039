"""How a recurrent model is told of: one token after another, through gates, into a state."""

from collections.abc import Iterator

import numpy as np

from clearformer.explanation.ending import after_a_run
from clearformer.explanation.facts import RecurrentFacts
from clearformer.explanation.lines import Line, Segment
from clearformer.explanation.page import Page
from clearformer.explanation.recurrent_wording import recurrent_wording
from clearformer.explanation.story import Story
from clearformer.explanation.tables import TABLE_INDENT, number
from clearformer.explanation.wording import Wording

NAMES = {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU"}

GATES = {"rnn": (), "lstm": ("forget_gate", "input_gate", "output_gate"),
         "gru": ("update_gate", "reset_gate")}  # fmt: skip

WHAT_IF = {
    "rnn": ("hidden=0", "silences a whole layer"),
    "lstm": ("forget_gate=0", "makes a layer forget everything at every step"),
    "gru": ("update_gate=0", "lets a layer keep nothing as it was"),
}
"""An edit of a layer, and what it does."""

FULL = 0.9
"""A number beyond is close to where tanh is flat, so that hardly any gradient passes."""


class RecurrentStory(Story):
    """Of a trained RNN, LSTM or GRU."""

    glance_title = "All layers at a glance"

    def model(self, page: Page) -> str:
        """Layers and widths."""
        facts = _facts(page)
        return self.trained(
            page,
            f"of {NAMES[facts.cell]} with {facts.hidden} numbers of state each, {facts.embed} "
            "numbers per token",
        )

    def layer(self, page: Page, within: str) -> str:
        """One for the whole layer."""
        return f"Layer {page.layer} · {NAMES[_facts(page).cell]}: one token after another"

    def part(self, page: Page) -> str:
        """Which layer."""
        text = super().part(page)
        return f"{text}Layers are counted from 0." if text else ""

    def words(self, page: Page, within: str) -> Wording:
        """Of a stage of the layer that is shown."""
        return recurrent_wording(within, _facts(page), page.layer)

    def glance(self, page: Page) -> Iterator[Line]:
        """How far the gates of each layer are open, and how much of its state is nearly full."""
        facts = _facts(page)
        gates = GATES[facts.cell]
        layers = range(facts.layers)
        shown = [n for n in layers if f"layers.{n}.hidden" in page.trace]
        yield from page.prose(
            f"How far the gates of each layer are open at “{page.labels[-1]}”, the last token, on "
            f"average over its {facts.hidden} numbers: 0 is shut, 1 is open."
            if gates
            else f"How much of each layer's state is beyond ±{FULL} at “{page.labels[-1]}”, the "
            "last token: there tanh is flat, and hardly any gradient passes."
        )
        for layer in shown:
            line = [Segment(f"{TABLE_INDENT}layer {layer:<3}", "label")]
            for name in gates:
                mean = float(_last(page, layer, name).mean())
                line.append(Segment(f" {name} {number(mean)} ", "number"))
            if not gates:
                full = float((np.abs(_last(page, layer, "hidden")) > FULL).mean())
                line.append(Segment(f" {full:.0%}", "number"))
            yield tuple(line)

    def after(self, page: Page) -> Iterator[Line]:
        """Other layers, and what if."""
        edit, does = WHAT_IF[_facts(page).cell]
        return after_a_run(page, f"layers.{page.layer}.{edit}", does)


def _facts(page: Page) -> RecurrentFacts:
    facts: RecurrentFacts = page.facts
    return facts


def _last(page: Page, layer: int, name: str) -> np.ndarray:
    values: np.ndarray = page.trace[f"layers.{layer}.{name}"][0, -1]
    return values
