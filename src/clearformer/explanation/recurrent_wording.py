"""What each step of a recurrent model does, for someone new to it, and its formula."""

from collections.abc import Callable, Mapping

from clearformer.explanation.facts import RecurrentFacts
from clearformer.explanation.wording import Place, Wording, embedding, ids, tokens

Words = Callable[[RecurrentFacts, str], Wording]
"""For the facts, and the name of what comes into the layer."""


def recurrent_wording(within: str, facts: RecurrentFacts, layer: int) -> Wording:
    """The words for a stage of a recurrent model."""
    if within in _AS_EVER:
        return _AS_EVER[within](Place(facts, layer, 0))
    arrives = "embedding" if layer == 0 else f"layers.{layer - 1}.hidden"
    return _STEPS[facts.cell, within](facts, arrives)


def _sum(letter: str, facts: RecurrentFacts, arrives: str) -> str:
    return f"{arrives}[t] · W_{letter} + hidden[t−1] · U_{letter} + b_{letter}"


def _gate(name: str, letter: str, says: str) -> Words:
    def words(facts: RecurrentFacts, arrives: str) -> Wording:
        return Wording(says, f"{name}[t] = σ({_sum(letter, facts, arrives)})")

    return words


def _plain_hidden(facts: RecurrentFacts, arrives: str) -> Wording:
    return Wording(
        "The tokens are read one after another, from left to right. At each of them "
        f"{facts.hidden} numbers, the hidden state, are made of the token and of the state "
        "before; they are all that the model remembers. tanh keeps each between −1 and 1. Before "
        "the first token the state is 0.",
        f"hidden[t] = tanh({arrives}[t] · W + hidden[t−1] · U + b)",
    )


def _candidate(facts: RecurrentFacts, arrives: str) -> Wording:
    return Wording(
        "What this token, after all that was read before it, would like to have remembered: "
        "between −1 and 1.",
        f"candidate[t] = tanh({_sum('g', facts, arrives)})",
    )


def _cell(facts: RecurrentFacts, arrives: str) -> Wording:
    return Wording(
        "The memory. What was in it is kept as far as the forget gate is open, and what is new is "
        "added as far as the input gate is. Nothing is multiplied with a matrix on the way from "
        "step to step, so that a number, and the gradient for it, can stay for long.",
        "cell[t] = forget_gate[t] · cell[t−1] + input_gate[t] · candidate[t]",
    )


def _shown(facts: RecurrentFacts, arrives: str) -> Wording:
    return Wording(
        "The hidden state: of the memory, what the output gate lets out. This is what the layer "
        "hands on, to the next step and to the layer above.",
        "hidden[t] = output_gate[t] · tanh(cell[t])",
    )


def _new(facts: RecurrentFacts, arrives: str) -> Wording:
    old = (
        "reset_gate[t] · (hidden[t−1] · U_n + b'_n)"
        if facts.reset == "after"
        else "(reset_gate[t] · hidden[t−1]) · U_n"
    )
    return Wording(
        "What the state could become: made of the token, and of the state before as far as the "
        "reset gate is open.",
        f"candidate[t] = tanh({arrives}[t] · W_n + b_n + {old})",
    )


def _mixed(facts: RecurrentFacts, arrives: str) -> Wording:
    return Wording(
        "The hidden state, all that the model remembers: a mean of what it was and of the "
        "candidate. Where the update gate is near 1, a number stays as it was.",
        "hidden[t] = (1 − update_gate[t]) · candidate[t] + update_gate[t] · hidden[t−1]",
    )


_STEPS: Mapping[tuple[str, str], Words] = {
    ("rnn", "hidden"): _plain_hidden,
    ("lstm", "input_gate"): _gate(
        "input_gate",
        "i",
        "The tokens are read one after another, from left to right, and a state is handed on from "
        "each to the next; before the first it is 0. A gate is a number between 0 (shut) and 1 "
        "(open) for each number of the state. This one says how much of what is new comes in.",
    ),
    ("lstm", "forget_gate"): _gate(
        "forget_gate",
        "f",
        "How much of each number in the memory is kept: 1 keeps it, 0 forgets it.",
    ),
    ("lstm", "candidate"): _candidate,
    ("lstm", "cell"): _cell,
    ("lstm", "output_gate"): _gate(
        "output_gate", "o", "How much of each number in the memory is shown."
    ),
    ("lstm", "hidden"): _shown,
    ("gru", "reset_gate"): _gate(
        "reset_gate",
        "r",
        "The tokens are read one after another, from left to right, and a state is handed on from "
        "each to the next; before the first it is 0. A gate is a number between 0 (shut) and 1 "
        "(open) for each number of the state. This one says how much of the state before is "
        "looked at when a new one is thought of.",
    ),
    ("gru", "update_gate"): _gate(
        "update_gate", "z", "How much of each number in the state stays: 1 keeps it as it was."
    ),
    ("gru", "candidate"): _new,
    ("gru", "hidden"): _mixed,
}


def _projected(place: Place) -> Wording:
    return Wording(
        f"The state is brought to the {place.facts.embed} numbers of an embedding, with which it "
        "will be compared.",
        f"projected = layers.{place.facts.layers - 1}.hidden · W",
    )


def _logits(place: Place) -> Wording:
    facts = place.facts
    source = "projected" if facts.tied else f"layers.{facts.layers - 1}.hidden"
    matrix = "tableᵀ (the embedding table again)" if facts.tied else "W_output"
    return Wording(
        f"Each state is turned into {facts.vocabulary:,} scores, one for each token of the "
        "vocabulary: how well would it come next?",
        f"logits = {source} · {matrix}",
    )


def _probabilities(place: Place) -> Wording:
    return Wording(
        "Softmax: the scores become probabilities of the token that comes next. Each row is a "
        "prediction made at that token, from the state alone.",
        "probabilities = exp(logits) / (sum of exp(logits) along the row)",
    )


_AS_EVER: Mapping[str, Callable[[Place], Wording]] = {
    "tokens": tokens,
    "ids": ids,
    "embedding": embedding,
    "projected": _projected,
    "logits": _logits,
    "probabilities": _probabilities,
}
"""Outside the layers."""
