"""How a model is told of, by kind: what is said of the whole, of its layers, and of each stage."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from clearformer.explanation.axes import split_name
from clearformer.explanation.lines import Line, shortened, visible
from clearformer.explanation.page import Page
from clearformer.explanation.trace import Stage
from clearformer.explanation.wording import Wording

UNITS = {"words": "words", "characters": "characters", "bytepair": "byte pairs"}

END = ("norm", "projected", "logits", "probabilities")
"""Stages after the last layer."""


class Story(ABC):
    """What an explanation says of one kind of model."""

    glance_title = ""
    """Above what `glance` shows."""
    end_title = "The next token"
    """Above the stages after the last layer."""

    @abstractmethod
    def model(self, page: Page) -> str:
        """What model this is, in a sentence."""

    @abstractmethod
    def layer(self, page: Page, within: str) -> str:
        """The heading over a stage of the layer that is shown."""

    @abstractmethod
    def words(self, page: Page, within: str) -> Wording:
        """What a stage does, and its formula."""

    def result_title(self, page: Page) -> str:
        """Above the most likely tokens."""
        return f"After “{shortened(page.labels[-1], 20)}”: the most likely tokens"

    def more_results(self, page: Page) -> Iterator[Line]:
        """What else was predicted; mostly nothing."""
        return iter(())

    @abstractmethod
    def glance(self, page: Page) -> Iterator[Line]:
        """All layers in a few lines; none if there is nothing to compare."""

    @abstractmethod
    def after(self, page: Page) -> Iterator[Line]:
        """What the numbers are worth, and commands to go on with."""

    def section(self, page: Page, stage: Stage) -> str:
        """The heading over a stage."""
        block, within = split_name(stage.name)
        if block is not None:
            return self.layer(page, within)
        return self.end_title if within in END else "Text becomes numbers"

    def part(self, page: Page) -> str:
        """Which layer is shown; empty if it is the only one."""
        layers = page.facts.layers
        if layers == 1:
            return ""
        place = {0: "the first", layers - 1: "the last"}.get(page.layer, "one")
        return (
            f"This is {place} of {layers} layers. All do the same steps, each with numbers "
            "of its own, and each works on what the one before hands on. "
        )

    @staticmethod
    def trained(page: Page, sizes: str) -> str:
        """What run this is, with sizes beside the number of layers."""
        facts, subject = page.facts, page.trace.subject
        return (
            f"The model in {visible(str(subject.path))} after {subject.step:,} steps of training: "
            f"{facts.layers} layer{'s' * (facts.layers > 1)} {sizes}, "
            f"a vocabulary of {facts.vocabulary:,} {UNITS[facts.tokenizer]}."
        )
