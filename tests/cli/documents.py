"""Reading what commands print as strictly as a program would that relies on it."""

import json
from typing import Any


def only_document(text: str) -> dict[str, Any]:
    """The one JSON object in `text`: a line, nothing before or after, no NaN, no key twice."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        assert len(found) == len(pairs), "a key twice"
        return found

    assert text.endswith("\n")
    assert text.count("\n") == 1
    document = json.loads(text, parse_constant=refuse, object_pairs_hook=distinct)
    assert isinstance(document, dict)
    return document


def files_in(folder: Any) -> dict[str, bytes | None]:
    """Every file and folder below, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
