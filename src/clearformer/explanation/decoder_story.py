"""How a decoder is told of: attention and feed-forward, layer by layer, head by head."""

from collections.abc import Iterator

from clearformer.explanation.ending import heads_at_a_glance, what_now
from clearformer.explanation.lines import Line
from clearformer.explanation.page import Page
from clearformer.explanation.story import Story
from clearformer.explanation.wording import Wording, wording


class DecoderStory(Story):
    """Of a trained decoder, or of a first lesson."""

    glance_title = "All heads at a glance"

    def model(self, page: Page) -> str:
        """Layers and heads."""
        facts, subject = page.facts, page.trace.subject
        heads = f"{facts.heads} head{'s' * (facts.heads > 1)}"
        if not facts.trained:
            return (
                f"A first lesson: an untrained model of one layer with {heads} and {facts.embed} "
                f"numbers per token; its matrices are random (seed {subject.seed})."
            )
        return self.trained(page, f"with {heads} each, {facts.embed} numbers per token")

    def layer(self, page: Page, within: str) -> str:
        """Attention or feed-forward."""
        if within.startswith("feed_forward") or within in ("norm_2", "after_feed_forward"):
            return f"Layer {page.layer} · feed-forward: each token by itself"
        head = f", head {page.head}" if page.facts.heads > 1 else ""
        return f"Layer {page.layer}{head} · attention: the tokens look at each other"

    def part(self, page: Page) -> str:
        """Which layer, and which head."""
        text, heads = super().part(page), page.facts.heads
        if heads > 1:
            text += f"Tables show head {page.head} of its {heads} heads. "
        return f"{text}Layers and heads are counted from 0." if text else ""

    def words(self, page: Page, within: str) -> Wording:
        """Of a stage, of the layer and head that are shown."""
        return wording(within, page.facts, page.layer, page.head)

    def glance(self, page: Page) -> Iterator[Line]:
        """Where each head looks."""
        return heads_at_a_glance(page)

    def after(self, page: Page) -> Iterator[Line]:
        """More of the lesson, or of the run."""
        return what_now(page)
