"""One row of the table: what is measured, against whom, and what is to be reached."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.benchmarking.goal import Goal
from clearformer.benchmarking.report import Figures, Report
from clearformer.text.corpus import Corpus

OURS = "clearformer"

Progress = Callable[[float], None]
"""Hears the share of a row that is done, 0 … 1."""


@dataclass(frozen=True)
class Request:
    """How rows are measured."""

    text: Corpus
    """What is learned from, where something is."""
    threads: int = 2
    """Of every side."""
    quick: bool = False
    """Fewer turns, less work: a few minutes in all, and rougher figures."""
    c_program: Path | None = None
    """The peer of some rows; absent unless it is named."""

    def turns(self, usual: int) -> int:
        """How many turns each side has."""
        return 3 if self.quick else usual


@dataclass(frozen=True)
class Row:
    """A row: its side called `clearformer` is ours, every other side is a peer."""

    key: str
    """What `--only` calls it."""
    title: Mapping[str, str]
    """By language, at most 20 columns wide."""
    unit: str
    """Of its figures: ms, s, nats, MB/s or tokens/s."""
    goal: Goal
    how_to_get: str
    """What to do where a peer is absent; empty where it never is."""
    measure: Callable[[Request, Progress], Report]
    against: str = ""
    """The peer that is meant; the best of all that are there, where none is named."""


@dataclass(frozen=True)
class Finding:
    """What came out of a row."""

    row: Row
    seconds: float
    """That it took to measure."""
    report: Report | None
    fault: str = ""
    """Why it could not be measured."""

    @property
    def ours(self) -> Figures | None:
        """The figures of clearformer."""
        return self.report.sides.get(OURS) if self.report else None

    @property
    def peer_name(self) -> str:
        """The peer that is meant, or else the best that was there; empty where none was."""
        if not self.report:
            return ""
        if self.row.against:
            return self.row.against if self.row.against in self.report.sides else ""
        peers = {name: each.median for name, each in self.report.sides.items() if name != OURS}
        best = max if self.row.goal.at_least else min
        return best(peers, key=peers.__getitem__) if peers else ""

    @property
    def peer(self) -> Figures | None:
        """Its figures."""
        return self.report.sides[self.peer_name] if self.report and self.peer_name else None

    @property
    def ratio(self) -> Figures | None:
        """Ours over the peer's, turn by turn."""
        if not self.report or not self.peer_name or not self.ours:
            return None
        return self.report.ratio(OURS, self.peer_name)

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None where there is no such figure."""
        figures = self.ratio if self.row.goal.of == "ratio" else self.ours
        return None if figures is None else self.row.goal.reached(figures.median)

    def document(self) -> dict[str, Any]:
        """For JSON."""
        report, ours, peer, ratio = self.report, self.ours, self.peer, self.ratio
        return {
            "row": self.row.key,
            "what": self.row.title["en"],
            "unit": self.row.unit,
            "settings": report.settings if report else {},
            "ours": ours.document() if ours else None,
            "peer": self.peer_name or None,
            "peer_figures": peer.document() if peer else None,
            "how_to_get_the_peer": None if peer else self.row.how_to_get,
            "ratio": ratio.document() if ratio else None,
            "goal": self.row.goal.document(),
            "reached": self.reached,
            "about": report.about if report else {},
            "notes": report.notes if report else [],
            "fault": self.fault or None,
            "seconds": self.seconds,
        }
