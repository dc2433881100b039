"""What somebody asks to be prepared, and whether what is there already is of the same request."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.corpora.plan import Plan, Source
from clearformer.corpora.watch import Progress
from clearformer.errors import RunError
from clearformer.text.ordinary_file import open_ordinary
from clearformer.text.text_file import PIECE
from clearformer.training.durable import in_one_line


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    paths: tuple[Path, ...]
    folder: Path
    tokenizer: str
    vocab: int | None
    encoding: str

    @property
    def bytes(self) -> int:
        """Size of the text."""
        return sum(size for size, _ in self.stamps())

    def stamps(self) -> list[tuple[int, int]]:
        """Size and time of the last change of each file. Raises RunError."""
        found = []
        for path in self.paths:
            with in_one_line("read", path):
                status = path.stat()
            found.append((status.st_size, status.st_mtime_ns))
        return found

    def require_same(self, plan: Plan, progress: Progress) -> None:
        """Refuses a plan of another request; reads the text to know.

        Raises:
            RunError: naming the differences.
        """
        differing = [
            f"{_in_words(name, before)}, not {_in_words(name, now)}"
            for name, before, now in (
                ("tokenizer", plan.tokenizer, self.tokenizer),
                ("vocab", plan.asked, self.vocab),
                ("encoding", plan.encoding, self.encoding),
            )
            if before != now
        ]
        other = None if differing else self._other_text(plan.sources, progress)
        if differing or other:
            raise RunError(
                f"{self.folder} is of another request: it has {other or '; '.join(differing)}; "
                "choose another --out, or remove the folder"
            )

    def _other_text(self, sources: Sequence[Source], progress: Progress) -> str | None:
        """How the text differs from that of a plan, if it does."""
        if len(self.paths) != len(sources):
            return f"{len(sources)} files of text, not {len(self.paths)}"
        progress.begin("checking that the text is the same", self.bytes)
        for path, source, (size, _) in zip(self.paths, sources, self.stamps(), strict=True):
            if size != source.bytes:
                return f"{source.name} with {source.bytes:,} bytes, not {size:,}"
            digest = hashlib.sha256()
            with in_one_line("read", path), open_ordinary(path) as file:
                while raw := file.read(PIECE):
                    digest.update(raw)
                    progress.done(len(raw))
            if digest.hexdigest() != source.sha256:
                return f"another content of {source.name}"
        return None


def _in_words(name: str, value: object) -> str:
    return f"no --{name}" if value is None else f"--{name} {value}"
