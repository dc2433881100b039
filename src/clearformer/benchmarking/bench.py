"""Measures rows one after the other; stopped in the middle, it keeps what there is."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearformer.benchmarking.report import busy_share, this_machine
from clearformer.benchmarking.row import Finding, Progress, Request, Row
from clearformer.errors import ClearformerError, ConfigurationError


class Listener:
    """Hears how far it is. This one keeps silent; the command line shows a table that grows."""

    def begins(self, row: Row, number: int, rows: int) -> Progress:
        """A row begins, the `number`-th of so many; returns what hears the share that is done."""
        return lambda share: None

    def found(self, finding: Finding) -> None:
        """A row is measured."""


@dataclass
class Bench:
    """All that was measured."""

    request: Request
    busy: float | None = None
    """Share of the processors that others took before it began."""
    findings: list[Finding] = field(default_factory=list)
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "machine": this_machine(),
            "threads": self.request.threads,
            "quick": self.request.quick,
            "text": [Path(source).name for source in self.request.text.sources],
            "busy": self.busy,
            "rows": [finding.document() for finding in self.findings],
            "interrupted": self.interrupted,
        }


def bench(rows: Sequence[Row], request: Request, listener: Listener | None = None) -> Bench:
    """Measures `rows`. On Ctrl-C it stops and returns what was measured so far."""
    heard, found = listener or Listener(), Bench(request)
    try:
        found.busy = busy_share()
        for number, row in enumerate(rows, 1):
            finding = _measured(row, request, heard.begins(row, number, len(rows)))
            found.findings.append(finding)
            heard.found(finding)
    except KeyboardInterrupt:
        found.interrupted = True
    return found


def _measured(row: Row, request: Request, progress: Progress) -> Finding:
    begun = time.perf_counter()
    report, fault = None, ""
    try:
        report = row.measure(request, progress)
    except ClearformerError as error:  # the other rows are measured all the same
        fault = str(error)
    return Finding(row, time.perf_counter() - begun, report, fault)


def chosen(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """The rows that are named, each by its key or the beginning of it; all if none is named.

    Raises:
        ConfigurationError: there is no such row.
    """
    every = list(rows)
    for name in names:
        if not any(_named(row, name) for row in every):
            known = ", ".join(row.key for row in every)
            raise ConfigurationError(f"there is no row {name!r}; there are {known}")
    return [row for row in every if not names or any(_named(row, name) for name in names)]


def _named(row: Row, name: str) -> bool:
    return row.key == name or row.key.startswith(f"{name}-")
