"""What an earlier run of `bench` found, to hold a new one against."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.benchmarking.row import Finding
from clearformer.errors import ConfigurationError

NOISE = 1.15
"""A ratio that is worse by more than that is told to be a loss."""


def read_record(path: Path) -> dict[str, float]:
    """The ratio of each row; where a row has no peer, clearformer's own figure is not comparable.

    Raises:
        ConfigurationError: it cannot be read, or is no document of `clearformer bench --json`.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
        rows = {row["row"]: _figure(row) for row in document["rows"]}
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None
    except (ValueError, KeyError, TypeError) as fault:
        raise ConfigurationError(
            f"{path} is no record: it should be what `clearformer bench --record` wrote; {fault!r}"
        ) from None
    return {name: ratio for name, ratio in rows.items() if ratio}


def with_record(path: Path, document: Mapping[str, Any]) -> dict[str, Any]:
    """`document` together with the rows of an older record that were not measured again.

    Raises:
        ConfigurationError: there is a file, and it is no record.
    """
    if not path.exists():
        return dict(document)
    read_record(path)
    older = json.loads(path.read_text("utf-8"))
    new = {row["row"]: row for row in document["rows"]}
    rows = [new.pop(row["row"], row) for row in older["rows"]]
    return {**document, "rows": [*rows, *new.values()]}


def _figure(row: Mapping[str, Any]) -> float | None:
    return float(row["ratio"]["median"]) if row["ratio"] else None


def change(finding: Finding, before: Mapping[str, float]) -> float | None:
    """How many times worse the ratio is than in the record; None where there are not two of them.

    Below 1 it is better.
    """
    recorded = before.get(finding.row.key)
    if recorded is None or finding.ratio is None:
        return None
    now = finding.ratio.median
    return recorded / now if finding.row.goal.at_least else now / recorded
