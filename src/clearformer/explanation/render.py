"""A trace as lines of text: every step with its name, shape, reason, formula and numbers."""

from collections.abc import Iterator

from clearformer.explanation.axes import split_name
from clearformer.explanation.bodies import body
from clearformer.explanation.edits import in_words
from clearformer.explanation.ending import next_tokens
from clearformer.explanation.lines import Line, Segment, cell_width, plain, shortened, visible
from clearformer.explanation.page import Page
from clearformer.explanation.pair_page import render_pairs
from clearformer.explanation.pair_subject import PairSubject
from clearformer.explanation.stories import story_of
from clearformer.explanation.story import Story
from clearformer.explanation.tables import INDENT, TABLE_INDENT
from clearformer.explanation.trace import Stage, Trace

__all__ = ["plain", "render"]


def render(
    trace: Trace, width: int | None = None, layer: int | None = None, head: int | None = None
) -> list[Line]:
    """The whole explanation, for a page of `width` columns (None: the terminal's).

    Raises:
        ConfigurationError: if the model has no such layer or head.
    """
    subject: object = trace.subject
    if isinstance(subject, PairSubject):
        return render_pairs(trace, subject, width)
    page = Page.of(trace, width, layer, head)
    return [*_opening(page), *_steps(page), *_closing(page)]


def _opening(page: Page) -> Iterator[Line]:
    sentence = visible(page.trace.subject.sentence).replace("␣", " ")
    yield (Segment(shortened(sentence, page.width), "title"),)
    yield from page.prose(_story(page).model(page), indent="")
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


def _steps(page: Page) -> Iterator[Line]:
    section, told, story = "", False, _story(page)
    shown = [stage for stage in page.trace if split_name(stage.name)[0] in (None, page.layer)]
    for number, stage in enumerate(shown, start=1):
        current = story.section(page, stage)
        if current != section:
            section = current
            yield from _heading(page, section)
        if not told and split_name(stage.name)[0] is not None:
            told, part = True, story.part(page)
            if part:
                yield ()
                yield from page.prose(part, indent="")
        yield ()
        yield from _step(page, number, stage)


def _story(page: Page) -> Story:
    return story_of(page.trace.subject.model)


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
    words = _story(page).words(page, split_name(stage.name)[1])
    if edited:
        yield from page.prose(
            "You replaced numbers here; what follows was said of the others.", "note"
        )
    yield from page.prose(words.says)
    for formula in words.formula.splitlines():
        yield from page.prose(formula, "formula", TABLE_INDENT)
    yield from body(page, stage)


def _closing(page: Page) -> Iterator[Line]:
    story = _story(page)
    glance = list(story.glance(page))
    if glance:
        yield from _heading(page, story.glance_title)
        yield ()
        yield from glance
    yield from _heading(page, story.result_title(page))
    yield ()
    yield from next_tokens(page)
    yield from story.more_results(page)
    yield ()
    yield from story.after(page)
