"""The pictures of a report as files of their own: each an SVG that needs nothing else."""

import re
from collections.abc import Mapping

from clearformer.comparison.document import Comparison
from clearformer.comparison.report.markup import Markup
from clearformer.comparison.report.page import LANGUAGES, PARTS, style
from clearformer.comparison.report.view import View

EDGE = 10.0
"""Empty space around a picture."""

ENLARGED = 1.25
"""Pixels for a unit of the picture, where a viewer asks for its size."""

_PICTURE = re.compile(r"<svg .*?</svg>", re.S)
_NARROW = re.compile(r'<svg [^>]*class="[^"]*\bnarrow\b')
_OPENING = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)" (.*?) style="[^"]*">', re.S)
_SHARED = re.compile(r"/\* (?:colours, of pictures too|within pictures) \*/\n(.*?)/\* ", re.S)


def pictures_of(comparison: Comparison, language: str = "en") -> dict[str, str]:
    """Every picture of the report, each by its part of the page and its number there.

    Such as fading-1, before training, and fading-2, after it.

    Args:
        comparison: what was found.
        language: en or ja, of the words in them.
    """
    view = View(comparison, LANGUAGES[language])
    found: dict[str, str] = {}
    for key, part in PARTS.items():
        drawn = _PICTURE.findall(part(view) or "")
        wide = [picture for picture in drawn if not _NARROW.match(picture)]
        found |= {f"{key}-{number}": alone(Markup(each)) for number, each in enumerate(wide, 1)}
    return found


def alone(picture: Markup) -> str:
    """One picture of a report, with its colours and letters inside; light or dark as the viewer."""
    opening = _OPENING.match(picture)
    if opening is None:
        raise ValueError(f"expected a picture of a report, got {picture[:40]}")
    width, height = (float(side) + 2 * EDGE for side in opening.group(1, 2))
    size: Mapping[str, str] = {
        "viewBox": f"{-EDGE:g} {-EDGE:g} {width:g} {height:g}",
        "width": f"{ENLARGED * width:.0f}",
        "height": f"{ENLARGED * height:.0f}",
    }
    written = " ".join(f'{name}="{value}"' for name, value in size.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {written} {opening.group(3)}>'
        f"<style>{_style()}</style>{picture[opening.end() :]}\n"
    )


def _style() -> str:
    rules = "".join(_SHARED.findall(style()))
    return f"{rules}svg {{ background: var(--card); }}\n"
