"""A trace as lines of text: every step with its name, shape, reason, formula and numbers."""

from collections.abc import Iterator

from clearformer.explanation.axes import split_name
from clearformer.explanation.bodies import body
from clearformer.explanation.edits import in_words
from clearformer.explanation.ending import heads_at_a_glance, next_tokens, what_now
from clearformer.explanation.lines import Line, Segment, cell_width, plain, shortened, visible
from clearformer.explanation.page import Page
from clearformer.explanation.tables import INDENT, TABLE_INDENT
from clearformer.explanation.trace import Stage, Trace
from clearformer.explanation.wording import wording

__all__ = ["plain", "render"]


def render(
    trace: Trace, width: int | None = None, layer: int | None = None, head: int | None = None
) -> list[Line]:
    """The whole explanation, for a page of `width` columns (None: the terminal's).

    Raises:
        ConfigurationError: if the model has no such layer or head.
    """
    page = Page.of(trace, width, layer, head)
    return [*_opening(page), *_steps(page), *_closing(page)]


def _opening(page: Page) -> Iterator[Line]:
    sentence = visible(page.trace.subject.sentence).replace("␣", " ")
    yield (Segment(shortened(sentence, page.width), "title"),)
    yield from page.prose(_what_model(page), indent="")
    for note in page.trace.notes:
        yield from page.prose(f"note: {visible(note).replace('␣', ' ')}", "note", indent="")
    for name in dict.fromkeys(name for name, _ in page.trace.edits):
        yield from page.prose(f"edited: {visible(name)}", "note", indent="")
    yield ()
    yield from page.prose(
        "Each step has a name, which is also its key in --json and in Python; a shape, that is "
        "the size of each axis; and a table of its numbers. Where a table has no room, … says how "
        "much is left out; --json has every number.",
        "faint",
        indent="",
    )


def _what_model(page: Page) -> str:
    facts, subject = page.facts, page.trace.subject
    heads = f"{facts.heads} head{'s' * (facts.heads > 1)}"
    if not facts.trained:
        return (
            f"A first lesson: an untrained model of one layer with {heads} and {facts.embed} "
            f"numbers per token; its matrices are random (seed {subject.seed})."
        )
    units = {"words": "words", "characters": "characters", "bytepair": "byte pairs"}
    return (
        f"The model in {visible(str(subject.path))} after {subject.step:,} steps of training: "
        f"{facts.layers} layer{'s' * (facts.layers > 1)} with {heads} each, {facts.embed} numbers "
        f"per token, a vocabulary of {facts.vocabulary:,} {units[facts.tokenizer]}."
    )


def _steps(page: Page) -> Iterator[Line]:
    section = ""
    shown = [stage for stage in page.trace if split_name(stage.name)[0] in (None, page.layer)]
    for number, stage in enumerate(shown, start=1):
        current = _section(page, stage)
        if current != section:
            section = current
            yield from _heading(page, section)
            if section == _sections(page)[1]:
                yield from _which_part(page)
        yield ()
        yield from _step(page, number, stage)


def _sections(page: Page) -> tuple[str, str, str, str]:
    head = f", head {page.head}" if page.facts.heads > 1 else ""
    return (
        "Text becomes numbers",
        f"Layer {page.layer}{head} · attention: the tokens look at each other",
        f"Layer {page.layer} · feed-forward: each token by itself",
        "The next token",
    )


def _section(page: Page, stage: Stage) -> str:
    text, attention, feed_forward, end = _sections(page)
    block, within = split_name(stage.name)
    if block is None:
        return end if within in ("norm", "logits", "probabilities") else text
    if within.startswith("feed_forward") or within in ("norm_2", "after_feed_forward"):
        return feed_forward
    return attention


def _which_part(page: Page) -> Iterator[Line]:
    facts = page.facts
    text = ""
    if facts.layers > 1:
        place = {0: "the first", facts.layers - 1: "the last"}.get(page.layer, "one")
        text = (
            f"This is {place} of {facts.layers} layers. All do the same steps, each with numbers "
            "of its own, and each works on what the one before hands on. "
        )
    if facts.heads > 1:
        text += f"Tables show head {page.head} of its {facts.heads} heads. "
    if text:
        yield ()
        yield from page.prose(f"{text}Layers and heads are counted from 0.", indent="")


def _heading(page: Page, title: str) -> Iterator[Line]:
    yield ()
    title = shortened(title, page.width - 4)
    line = "─" * max(0, page.width - cell_width(title) - 4)
    yield (Segment("── ", "faint"), Segment(title, "section"), Segment(f" {line}", "faint"))


def _step(page: Page, number: int, stage: Stage) -> Iterator[Line]:
    shape = in_words(stage.axes, stage.shape)
    edited = any(name == stage.name for name, _ in page.trace.edits)
    name = [Segment(f"{number:>2}  ", "faint"), Segment(stage.name, "title")]
    if edited:
        name.append(Segment("  edited", "note"))
    used = sum(cell_width(segment.text) for segment in name)
    if used + 2 + len(shape) <= page.width:
        yield (*name, Segment(" " * (page.width - used - len(shape))), Segment(shape, "shape"))
    else:
        yield tuple(name)
        yield (Segment(INDENT), Segment(shape, "shape"))
    words = wording(split_name(stage.name)[1], page.facts, page.layer, page.head)
    if edited:
        yield from page.prose(
            "You replaced numbers here; what follows was said of the others.", "note"
        )
    yield from page.prose(words.says)
    for formula in words.formula.splitlines():
        yield from page.prose(formula, "formula", TABLE_INDENT)
    yield from body(page, stage)


def _closing(page: Page) -> Iterator[Line]:
    glance = list(heads_at_a_glance(page))
    if glance:
        yield from _heading(page, "All heads at a glance")
        yield ()
        yield from glance
    yield from _heading(page, f"After “{shortened(page.labels[-1], 20)}”: the most likely tokens")
    yield ()
    yield from next_tokens(page)
    yield ()
    yield from what_now(page)
