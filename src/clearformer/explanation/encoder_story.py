"""How an encoder is told of: as a decoder, but that each token sees both sides."""

from collections.abc import Iterator

from clearformer.explanation.decoder_story import DecoderStory
from clearformer.explanation.lines import Line, Segment, shortened, visible
from clearformer.explanation.page import Page
from clearformer.explanation.tables import TABLE_INDENT, number
from clearformer.explanation.wording import Wording

MOST_MASKS = 16
"""Masks whose candidates are listed."""
FEW = 4
"""Candidates listed for each mask but the first."""


class EncoderStory(DecoderStory):
    """Of a trained encoder."""

    end_title = "What stands there"

    def words(self, page: Page, within: str) -> Wording:
        """Of a stage, of the layer and head that are shown."""
        words, said = super().words(page, within), _SAID.get(within)
        return words if said is None else words._replace(says=said(page.facts.vocabulary))

    def result_title(self, page: Page) -> str:
        """Where the tokens would stand."""
        place = page.trace.subject.place
        label = shortened(page.labels[place], 20)
        return f"In the place of “{label}” (position {place}): the most likely tokens"

    def more_results(self, page: Page) -> Iterator[Line]:
        """The most likely tokens for every other mask, in a line each."""
        others = list(page.trace.masks.items())[1:]
        if not others:
            return
        yield ()
        yield from page.prose(
            "The other masks, each with all masks still there; clearformer generate fills them in "
            "one after another, and reads again each time:"
        )
        for place, found in others[:MOST_MASKS]:
            shown = "  ".join(f"{shortened(visible(t), 12)} {number(p)}" for t, p in found[:FEW])
            yield (
                Segment(f"{TABLE_INDENT}position {place:<4}", "label"),
                Segment(shown, "number"),
            )
        if len(others) > MOST_MASKS:
            yield from page.prose(f"… {len(others) - MOST_MASKS} more masks", "note")


def _ids(vocabulary: int) -> str:
    return (
        f"Each token is replaced by its number in the vocabulary of {vocabulary:,}. A mask has a "
        f"number of its own, the first beyond: {vocabulary}."
    )


def _scores(_: int) -> str:
    return (
        "All products are divided by the square root of the width. The reason is shown at the "
        "weights. Nothing is masked out: this model guesses what is missing, it does not write on, "
        "so each token may look at both sides."
    )


def _logits(vocabulary: int) -> str:
    return (
        f"Each token's numbers are turned into {vocabulary:,} scores, one for each token of the "
        "vocabulary: how well would it stand in this place? There is none for the mask."
    )


def _probabilities(_: int) -> str:
    return (
        "Softmax once more: the scores become probabilities of the token that stands in this very "
        "place. Where there is a <mask>, that is a guess from both sides; elsewhere the model sees "
        "the token itself."
    )


_SAID = {
    "ids": _ids,
    "attention.scores": _scores,
    "logits": _logits,
    "probabilities": _probabilities,
}
"""What is said otherwise than of a decoder, for a vocabulary of so many tokens."""
