"""The whole page: one file of HTML that loads nothing and runs nothing."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from clearformer.comparison.document import Comparison
from clearformer.comparison.findings import findings_of
from clearformer.comparison.report.curves import curves
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.fading import fading
from clearformer.comparison.report.growth import growth
from clearformer.comparison.report.japanese import JAPANESE
from clearformer.comparison.report.looking import looking
from clearformer.comparison.report.markup import Markup, data_block, joined, tag
from clearformer.comparison.report.method import careful, method
from clearformer.comparison.report.recalling import recalling
from clearformer.comparison.report.results import headline, results, under_the_headline
from clearformer.comparison.report.seen import seen
from clearformer.comparison.report.temperature import samples, temperature
from clearformer.comparison.report.textbook import textbook
from clearformer.comparison.report.view import View
from clearformer.errors import ConfigurationError

LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "ja": JAPANESE}
"""What the report can be written in."""

PARTS: Mapping[str, Callable[[View], Markup | None]] = {
    "results": results,
    "lesson": textbook,
    "curves": curves,
    "seen": seen,
    "recalling": recalling,
    "fading": fading,
    "growth": growth,
    "looking": looking,
    "temperature": temperature,
    "samples": samples,
    "method": method,
    "careful": careful,
}
"""The parts of the page, from what came out to how; a part without anything to show is left out."""

DATA = "clearformer-comparison"
"""The element that holds the document."""

NOTHING_LOADED = "default-src 'none'; style-src 'unsafe-inline'"
"""What the browser is told: the page gets nothing from anywhere, and runs nothing."""


def report_of(comparison: Comparison, language: str = "en") -> str:
    """The page for a person, with the document inside for a program.

    The same comparison gives the same page, to the byte.

    Args:
        comparison: what was found.
        language: en or ja, of the report's own words.

    Raises:
        ConfigurationError: a language that there is not.
    """
    if language not in LANGUAGES:
        raise ConfigurationError(
            f"language must be one of {', '.join(LANGUAGES)}; got {language!r:.40}"
        )
    view = View(comparison, LANGUAGES[language])
    parts = {key: part(view) for key, part in PARTS.items()}
    shown = {key: content for key, content in parts.items() if content is not None}
    title = f"{headline(view)} – {view.say('kicker')}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="Content-Security-Policy", content=NOTHING_LOADED),
        tag("title", title),
        tag("style", Markup(style())),
    )
    body = tag("body", _top(view, list(shown)), _main(view, shown),
               data_block(DATA, comparison.to_json()))  # fmt: skip
    return f"<!doctype html>\n{tag('html', head, body, lang=language)}\n"


@cache
def style() -> str:
    """How the page looks."""
    return Path(__file__).with_name("style.css").read_text("utf-8")


def _top(view: View, keys: list[str]) -> Markup:
    # the first is on what the headline says already
    told = view.told(view.comparison.findings, findings_of)[1:]
    findings = [tag("p", finding, lang=language) for finding, language in told]
    links = [tag("li", tag("a", view.say(key), href=f"#{key}")) for key in keys]
    return tag(
        "header",
        tag("p", view.say("kicker"), class_="kicker"),
        tag("h1", headline(view)),
        tag("p", under_the_headline(view), class_="under"),
        tag("div", *findings, class_="findings") if findings else None,
        tag("nav", tag("ul", *links), aria_label=view.say("contents")),
    )


def _main(view: View, shown: Mapping[str, Markup]) -> Markup:
    sections = [
        tag("section", tag("h2", view.say(key), id=f"{key}-name"), content,
            id=key, aria_labelledby=f"{key}-name")
        for key, content in shown.items()
    ]  # fmt: skip
    return tag("main", joined(sections))
