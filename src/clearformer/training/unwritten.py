"""A run folder for ranks that do not write: the first one does."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Unwritten:
    """Takes what a `RunFolder` takes while training, and writes none of it."""

    path: Path

    @property
    def checkpoints(self) -> Path:
        """Folder of the saves."""
        return self.path / "checkpoints"

    def require_own(self) -> None:
        """Rank 0 looks."""

    def log(self, entry: Mapping[str, object]) -> None:
        """Rank 0 logs."""

    def add_sample(self, step: int, text: str) -> None:
        """Rank 0 writes samples."""

    def truncate_log(self, step: int) -> None:
        """Rank 0 has the log."""

    def truncate_samples(self, step: int) -> None:
        """Rank 0 has the samples."""
