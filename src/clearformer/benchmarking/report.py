"""What a benchmark found, as a plain table or as one JSON document."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import machine, python_version, system
from statistics import median, quantiles
from typing import Any

import clearformer
from clearformer.engines.threads import processors

BUSY = 0.1
"""Share of the processors that others may take before a benchmark begins; with more, it says so."""

LOOK = 0.5
"""Seconds over which that share is measured."""


@dataclass(frozen=True)
class Figures:
    """One figure for each turn: their median, and the quarters between which half of them lie."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """The one in the middle."""
        return median(self.samples)

    @property
    def spread(self) -> tuple[float, float]:
        """First and third quartile."""
        if len(self.samples) < 2:
            return self.samples[0], self.samples[0]
        low, _, high = quantiles(self.samples, n=4, method="inclusive")
        return low, high

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "median": self.median,
            "first_quartile": self.spread[0],
            "third_quartile": self.spread[1],
            "samples": list(self.samples),
        }


@dataclass
class Report:
    """The figures of all sides, compared turn by turn: the first with each of the others.

    Where a `peer` is named, every side called as the first one is (`clearformer`, `clearformer
    torch`) is compared with that, too.
    """

    benchmark: str
    settings: dict[str, Any]
    unit: str
    sides: dict[str, Figures] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    """How each side is set up."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know: a peer that is absent, a busy machine."""
    extra: dict[str, Any] = field(default_factory=dict)
    """More keys of the JSON document."""
    lines: list[str] = field(default_factory=list)
    """More lines of the table."""
    compares: bool = True
    peer: str | None = None
    """The side of somebody else."""

    def look_around(self) -> None:
        """Notes whether the machine is busy with something else; takes half a second."""
        busy = busy_share()
        if busy is not None and busy > BUSY:
            self.note(
                f"others took {busy:.0%} of the processors when this began: measure again on a "
                "quiet machine"
            )

    def note(self, text: str) -> None:
        """Keeps something for the end of the report."""
        self.notes.append(text)

    def take(self, taken: Mapping[str, Sequence[float]]) -> None:
        """Adds the samples of each side."""
        self.sides |= {name: Figures(tuple(samples)) for name, samples in taken.items()}

    @property
    def ratios(self) -> dict[str, Figures]:
        """One side over another, of figures that were taken in the same turn."""
        if not self.compares or not self.sides:
            return {}
        ours, *others = self.sides
        pairs = [(ours, name) for name in others if not name.startswith(f"{ours} ")]
        if self.peer in others:
            pairs += [(name, self.peer) for name in others if name.startswith(f"{ours} ")]
        return {f"{a} / {b}": self.ratio(a, b) for a, b in pairs}

    def ratio(self, a: str, b: str) -> Figures:
        """One side over another, turn by turn."""
        both = zip(self.sides[a].samples, self.sides[b].samples, strict=True)
        return Figures(tuple(one / other for one, other in both))

    def document(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            "benchmark": self.benchmark,
            "machine": this_machine(),
            "settings": self.settings,
            "unit": self.unit,
            "sides": {
                name: {"about": self.about.get(name, ""), **figures.document()}
                for name, figures in self.sides.items()
            },
            "ratios": {name: figures.document() for name, figures in self.ratios.items()},
            **self.extra,
            "notes": self.notes,
        }

    def table(self) -> str:
        """Everything, for a person."""
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        versions = ", ".join(f"{name} {value}" for name, value in this_machine().items() if value)
        lines = [f"{self.benchmark}: {settings}", versions, ""]
        lines += [f"{self.unit}: median (quartiles)"] if self.sides else [f"{self.unit}:"]
        wide = max((len(name) for name in (*self.sides, *self.ratios)), default=0)
        for name, figures in self.sides.items():
            low, high = figures.spread
            line = f"  {name:{wide}}  {readable(figures.median):>9}"
            line += f"  ({readable(low)} … {readable(high)})"
            lines.append(f"{line}  {self.about.get(name, '')}".rstrip())
        for name, figures in self.ratios.items():
            low, high = figures.spread
            lines.append(f"  {name:{wide}}  {figures.median:9.3f}  ({low:.3f} … {high:.3f})")
        return "\n".join([*lines, *self.lines, *(f"note: {note}" for note in self.notes)])


def readable(value: float) -> str:
    """A number with about four digits that count."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def busy_share() -> float | None:
    """Share of the processors in use while this process sleeps; None where Linux does not tell."""
    before = _processor_time()
    if before is None:
        return None
    time.sleep(LOOK)
    after = _processor_time() or before
    idle, total = (b - a for a, b in zip(before, after, strict=True))
    return 1 - idle / total if total else None


def _processor_time() -> tuple[int, int] | None:
    """Idle ticks and all ticks since the machine started."""
    path = Path("/proc/stat")
    if not path.exists():
        return None
    ticks = [int(part) for part in path.read_text("ascii").split("\n", 1)[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)  # idle and waiting for a disk


def this_machine() -> dict[str, Any]:
    """What figures depend on."""
    return {
        "processor": _processor(),
        "processors": processors(),
        "system": f"{system()} {machine()}",
        "python": python_version(),
        "clearformer": clearformer.__version__,
        "numpy": _version("numpy"),
        "torch": _version("torch"),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return ""


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
