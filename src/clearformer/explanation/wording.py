"""What each step does, in a sentence or two for someone new to it, and its formula."""

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

from clearformer.explanation.facts import Facts


class Wording(NamedTuple):
    """The words of one step."""

    says: str
    formula: str = ""


def wording(name: str, facts: Facts, layer: int, head: int) -> Wording:
    """The words for the stage `name` (without its block) of one layer and head."""
    return _STEPS[name](Place(facts, layer, head))


class Place(NamedTuple):
    """Where a step stands: in which model, layer and head."""

    facts: Any
    layer: int
    head: int

    @property
    def vectors(self) -> str:
        """The name of what positions are added to."""
        return "shifted" if self.facts.shifted else "embedding"

    @property
    def arrives(self) -> str:
        """The name of what comes into the block."""
        return "positioned" if self.layer == 0 else f"blocks.{self.layer - 1}.after_feed_forward"

    @property
    def attended(self) -> str:
        """The name of what attention works on."""
        return "norm_1" if self.facts.norm else self.arrives

    @property
    def bias(self) -> str:
        """The end of a formula, where there is a bias."""
        return " + b" if self.facts.bias else ""


def tokens(place: Place) -> Wording:
    """Of every kind of model."""
    kind = {
        "words": "Here a token is a word; what stands between words is one, too, unless it is "
        "a single space.",
        "characters": "Here a token is one character.",
        "bytepair": "Here a token is a piece of text that was frequent in training: anything "
        "from one byte to a whole word.",
    }
    return Wording(
        "The sentence is cut into tokens, the pieces a model reads and writes. "
        + kind[place.facts.tokenizer]
    )


def ids(place: Place) -> Wording:
    """Of every kind of model."""
    how = f"Each token is replaced by its number in the vocabulary of {place.facts.vocabulary:,}."
    if place.facts.tokenizer == "words" and not place.facts.trained:
        how += (
            " Words are numbered in order of first use, from 2 on: 0 is <pad>, which fills up "
            "short sentences, and 1 is <unk>, which stands for unknown words."
        )
    return Wording(how, "id = vocabulary[token]")


def embedding(place: Place) -> Wording:
    """Of every kind of model."""
    facts = place.facts
    origin = "learned in training" if facts.trained else "random, since nothing is trained yet"
    factor = f" · √embed = table[id] · {sqrt(facts.embed):.3f}" if facts.scaled else ""
    return Wording(
        f"Each id picks its row of the embedding table. From here on a token is a list of "
        f"{facts.embed} numbers, {origin}.",
        f"embedding = table[id]{factor}",
    )


def _shifted(place: Place) -> Wording:
    return Wording(
        "Each token takes along a share of the token before it, so that already the first layer "
        "sees pairs: which token this is, and which came before. Else a head would have to learn "
        f"to look one position back. Each of the {place.facts.embed} numbers has a share of its "
        "own, learned, and perhaps negative. The first token has none before it.",
        "shifted[t] = embedding[t] + share · embedding[t − 1]",
    )


def _position(place: Place) -> Wording:
    return Wording(
        "Attention by itself does not know the order of the tokens. So each position has a "
        f"pattern of its own: waves, from short to long, in a table of {place.facts.positions} "
        "rows, one per position, of which as many are used as there are tokens. Nothing in it "
        "is learned.",
        f"position[p, 2i] = sin(p / 10000^(2i / {place.facts.embed}))\n"
        f"position[p, 2i + 1] = cos(p / 10000^(2i / {place.facts.embed}))",
    )


def _positioned(place: Place) -> Wording:
    if place.facts.rotary:
        return Wording(
            "Nothing is added for the order of the tokens: this model turns queries and keys "
            "instead (rotary positions, below).",
            f"positioned = {place.vectors}",
        )
    return Wording(
        "The two are added: now the numbers say which token it is and where it stands.",
        f"positioned = {place.vectors} + position",
    )


def _norm(source: Callable[[Place], str], name: str) -> Callable[[Place], Wording]:
    def words(place: Place) -> Wording:
        x = source(place)
        if place.facts.norm == "layer":
            return Wording(
                "Each token's numbers are brought to mean 0 and variance 1, then multiplied with "
                "a learned gain and shifted by a learned bias, so that no layer meets numbers of "
                "a size it does not know.",
                f"{name} = (x − mean(x)) / √(variance(x) + ε) · gain + bias,  x = {x}",
            )
        return Wording(
            "Each token's numbers are brought to root mean square 1, then multiplied with a "
            "learned gain, so that no layer meets numbers of a size it does not know.",
            f"{name} = x / √(mean(x²) + ε) · gain,  x = {x}",
        )

    return words


def _projection(name: str, letter: str, purpose: str) -> Callable[[Place], Wording]:
    turned = name in ("query", "key")

    def words(place: Place) -> Wording:
        facts = place.facts
        says = f"{name.capitalize()}: {purpose}."
        if facts.shared:
            says += " In this lesson nothing is changed for it: " + (
                "query, key and value are all the same vectors."
                if name == "query"
                else "it is the same as the query."
            )
        projected = f"({place.attended} · W_{letter}{place.bias})"
        formula = place.attended if facts.shared else projected
        if facts.heads > 1:
            says += _share(place, name)
            formula = f"{formula}[head {_shared_head(place, name)}]"
        else:
            formula = formula.strip("()")
        if turned and facts.query_key_norm:
            says += " It is brought to root mean square 1."
            formula = f"rms_norm({formula})"
        if turned and facts.rotary:
            says += " Then each pair of its numbers is turned by an angle that grows with the "
            says += "position: when query and key meet, what counts is how far apart they are."
            formula = f"turn({formula}, position)"
        return Wording(says, f"{name} = {formula}")

    return words


def _shared_head(place: Place, name: str) -> int:
    facts = place.facts
    if name == "query":
        return place.head
    return place.head * facts.key_value_heads // facts.heads


def _share(place: Place, name: str) -> str:
    facts = place.facts
    if name == "query":
        return (
            f" Its {facts.embed} numbers are shared out among {facts.heads} heads, "
            f"{facts.width} each; each head looks for something else."
        )
    if facts.key_value_heads < facts.heads:
        times = facts.heads // facts.key_value_heads
        return f" {times} neighbouring heads share one {name}."
    return ""


def _key_transposed(place: Place) -> Wording:
    return Wording(
        "The table of keys laid on its side: each token is now a column, ready to meet the rows "
        "of the queries.",
        "key_transposed = keyᵀ",
    )


def _products(place: Place) -> Wording:
    return Wording(
        "Every query meets every key: their numbers are multiplied in pairs and added up. The "
        "more the two point the same way, the larger the product. Row: who looks; column: who is "
        "looked at.",
        "products = query · keyᵀ",
    )


def _scores(place: Place) -> Wording:
    width, largest = place.facts.width, place.facts.largest_score
    if largest is not None:
        return Wording(
            "Query and key have root mean square 1, so no product is larger than the width, "
            f"{width}. All are brought to a scale on which two of the same direction have the "
            f"score {largest:g}, whatever the width.",
            f"scores = products · {largest:g} / width = products · {largest:g} / {width} "
            f"= products · {largest / width:.3f}",
        )
    return Wording(
        f"All products are divided by the square root of the width, {width}. The reason is shown "
        "at the weights.",
        f"scores = products / √width = products / √{width} = products / {sqrt(width):.3f}",
    )


def _masked_scores(place: Place) -> Wording:
    return Wording(
        "A model that writes must not look at what comes later. So those cells, marked ·, are set "
        "to −∞, of which softmax makes exactly 0.",
        "masked_scores[query, key] = scores[query, key] if key ≤ query else −∞",
    )


def _weights(place: Place) -> Wording:
    scores = "masked_scores" if place.facts.causal else "scores"
    return Wording(
        "Softmax turns each row of scores into shares: all positive, and together 1. A row says "
        "how much its token takes from each token.",
        f"weights = exp({scores}) / (sum of exp({scores}) along the row)",
    )


def _mixed(place: Place) -> Wording:
    return Wording(
        "Each token takes from the values what its weights say: a weighted mean.",
        "mixed = weights · value",
    )


def _attention_output(place: Place) -> Wording:
    facts = place.facts
    heads = (
        f"The results of the {facts.heads} heads are put side by side again, {facts.embed} "
        "numbers a token"
        if facts.heads > 1
        else ""
    )
    merged = "[mixed of all heads]" if facts.heads > 1 else "mixed"
    if not facts.projected:
        says = f"{heads}. " if heads else ""
        return Wording(
            f"{says}With shared projections there is no matrix here: this is what attention hands "
            "on.",
            f"output = {merged}",
        )
    says = f"{heads}, and mixed by a matrix." if heads else "A matrix brings it back to the stream."
    return Wording(says, f"output = {merged} · W_O{place.bias}")


def _after_attention(place: Place) -> Wording:
    return Wording(
        "What was gathered is added to what the token already was (a residual connection): it "
        "keeps its own, and gains.",
        f"after_attention = {place.arrives} + attention.output",
    )


def _hidden(place: Place) -> Wording:
    source = "norm_2" if place.facts.norm else "after_attention"
    return Wording(
        f"Now each token works by itself: its {place.facts.embed} numbers become "
        f"{place.facts.hidden}, each a question asked of the token.",
        f"hidden = {source} · W_1{place.bias}",
    )


def _activated(place: Place) -> Wording:
    kinds = {
        "gelu": Wording(
            "What is large passes, what is negative is held back. Without such a bend, all layers "
            "together could do no more than one matrix.",
            "activated = gelu(hidden) ≈ hidden · (share of a normal distribution below hidden)",
        ),
        "squared_relu": Wording(
            "What is negative becomes 0, the rest is squared. Without such a bend, all layers "
            "together could do no more than one matrix.",
            "activated = max(hidden, 0)²",
        ),
        "swiglu": Wording(
            "A second product with the same numbers decides how much of each passes (a gate). "
            "Without such a bend, all layers together could do no more than one matrix.",
            "activated = silu(x · W) · hidden,  silu(z) = z / (1 + exp(−z))",
        ),
    }
    return kinds[place.facts.activation]


def _feed_forward_output(place: Place) -> Wording:
    return Wording(
        f"Back from {place.facts.hidden} numbers to {place.facts.embed}.",
        f"output = activated · W_2{place.bias}",
    )


def _after_feed_forward(place: Place) -> Wording:
    return Wording(
        "Again added to what was there. This is what the block hands on.",
        "after_feed_forward = after_attention + feed_forward.output",
    )


def _logits(place: Place) -> Wording:
    facts = place.facts
    source = "norm" if facts.norm else f"blocks.{facts.layers - 1}.after_feed_forward"
    matrix = "tableᵀ (the embedding table again)" if facts.tied else "W_output"
    return Wording(
        f"Each token's numbers are turned into {facts.vocabulary:,} scores, one for each token of "
        "the vocabulary: how well would it come next?",
        f"logits = {source} · {matrix}",
    )


def _probabilities(place: Place) -> Wording:
    seen = (
        ""
        if place.facts.causal
        else " In this lesson it was made with the whole sentence in view; a model that learns to "
        "write must not see what it is to predict (--causal)."
    )
    return Wording(
        "Softmax once more: the scores become probabilities of the token that comes next. Each "
        "row is a prediction made at that token." + seen,
        "probabilities = exp(logits) / (sum of exp(logits) along the row)",
    )


def _last(place: Place) -> str:
    return f"blocks.{place.facts.layers - 1}.after_feed_forward"


_STEPS: dict[str, Callable[[Place], Wording]] = {
    "tokens": tokens,
    "ids": ids,
    "embedding": embedding,
    "shifted": _shifted,
    "position": _position,
    "positioned": _positioned,
    "norm_1": _norm(lambda place: place.arrives, "norm_1"),
    "attention.query": _projection("query", "Q", "what each token is looking for"),
    "attention.key": _projection("key", "K", "what each token can be found by"),
    "attention.value": _projection("value", "V", "what each token gives when it is looked at"),
    "attention.key_transposed": _key_transposed,
    "attention.products": _products,
    "attention.scores": _scores,
    "attention.masked_scores": _masked_scores,
    "attention.weights": _weights,
    "attention.mixed": _mixed,
    "attention.output": _attention_output,
    "after_attention": _after_attention,
    "norm_2": _norm(lambda _: "after_attention", "norm_2"),
    "feed_forward.hidden": _hidden,
    "feed_forward.activated": _activated,
    "feed_forward.output": _feed_forward_output,
    "after_feed_forward": _after_feed_forward,
    "norm": _norm(_last, "norm"),
    "logits": _logits,
    "probabilities": _probabilities,
}
