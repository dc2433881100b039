"""Elements of HTML and SVG, in which whatever is text stays text."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | Markup | None
"""What an element may hold; a plain string is text, whatever is written in it."""

EMPTY = frozenset({"meta", "path", "circle", "rect", "line", "polyline", "polygon", "wbr"})
"""Elements that hold nothing here."""


def tag(name: str, /, *content: Content, **attributes: Any) -> Markup:
    """An element.

    Args:
        name: of the element.
        content: elements and texts in it; None is left out.
        attributes: `class_` is class, `data_value` data-value; what is None is left out.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(shown(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in EMPTY:
        return Markup(f"<{name}{written}>" if name in ("meta", "wbr") else f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(content)}</{name}>")


def joined(content: Iterable[Content]) -> Markup:
    """Elements and texts one after another."""
    return Markup(
        "".join(
            part if isinstance(part, Markup) else escape(shown(part), quote=False)
            for part in content
            if part is not None
        )
    )


def shown(text: str) -> str:
    """`text` with what no page can show, such as control characters, made visible."""
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t\u3000" or c.isprintable() else _visible(c) for c in text)


def data_block(key: str, document: Mapping[str, Any]) -> Markup:
    """A document in the page that a program can read and that nothing runs."""
    written = json.dumps(document, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{key}">{written}</script>')


def _visible(character: str) -> str:
    return "\ufffd" if "\ud800" <= character <= "\udfff" else repr(character)[1:-1]
