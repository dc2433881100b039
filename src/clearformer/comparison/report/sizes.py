"""The sizes of a model, which a document holds in English, in the language of the report."""

import re
from collections.abc import Mapping

PART = re.compile(r"(?P<before>\d[\d +]*) (?P<unit>\w+)|(?P<name>[a-z]+) (?P<after>\w+)")
"""Such as "2 layers", "1 + 1 layers", "hidden 60", "both ways"."""


def sizes_in(words: Mapping[str, str], in_words: str) -> str:
    """`Configuration.in_words` in other words; a part that is not known stays as it is."""
    parts = " ".join(in_words.split()).split(", ")
    return words["comma"].join(_said(words, part) for part in parts)


def _said(words: Mapping[str, str], part: str) -> str:
    found = PART.fullmatch(part)
    if not found:
        return part
    template = words.get(f"size_{found['unit'] or found['name']}", part)
    return template.format(count=found["before"] or found["after"])
