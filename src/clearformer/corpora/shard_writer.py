"""Making one shard: its part of the text, encoded block by block into a file."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedRandom
from pathlib import Path
from secrets import token_hex

from clearformer.corpora.crew import Tell
from clearformer.corpora.finished import FinishedShard
from clearformer.corpora.plan import PlannedShard
from clearformer.corpora.sizes import Sizes
from clearformer.errors import RunError
from clearformer.text.cuts import blocks
from clearformer.text.shards import HEADER_BYTES, Kind
from clearformer.text.text_files import TextFiles
from clearformer.text.tokenizer import Tokenizer, load_tokenizer, tokenizer_class
from clearformer.training.durable import in_one_line, rename, sync, sync_folder
from clearformer.training.judged import spelled_bytes

MOST_EXAMPLES = 100
"""Different unknown words that are kept by name."""


@dataclass(frozen=True)
class ShardJob:
    """All that is needed to make a shard in another process."""

    folder: Path
    paths: tuple[Path, ...]
    encoding: str
    tokenizer: Path
    """File of the tokenizer."""

    kind: Kind
    shard: PlannedShard
    sizes: Sizes


class _Missing:
    """Adds up what the vocabulary lacks."""

    def __init__(self) -> None:
        self.tokens = self.spelled = 0
        self.examples: dict[str, int] = {}

    def add(self, tokenizer: Tokenizer, block: str) -> None:
        unknown = tokenizer.unknown(block)
        self.tokens += sum(unknown.values())
        self.spelled += spelled_bytes(tokenizer.kind, unknown)
        for piece, count in unknown.items():
            if piece in self.examples or len(self.examples) < MOST_EXAMPLES:
                self.examples[piece] = self.examples.get(piece, 0) + count


def write_shard(job: ShardJob, tell: Tell) -> FinishedShard:
    """Makes a shard; its file is complete, or absent.

    It is written under a name that nobody else uses, so that a process that was left behind can
    do no harm.

    Raises:
        TextError: the text cannot be read any more.
        RunError: it has changed, or the disk refuses.
    """
    path = job.folder / job.shard.name
    temporary = path.with_name(f"{path.name}.{token_hex(4)}.tmp")
    needed = job.kind.bytes(job.shard.end - job.shard.begin)
    with in_one_line("write", path, needed):
        try:
            with temporary.open("x+b") as file:
                finished = _written(job, file, tell)
            rename(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(job.folder)
    return finished


def _written(job: ShardJob, file: BufferedRandom, tell: Tell) -> FinishedShard:
    tokenizer = _tokenizer(job.tokenizer, job.kind.fingerprint)
    missing, tokens = _Missing(), 0
    file.write(bytes(HEADER_BYTES))
    cuts = tokenizer_class(tokenizer.kind).cuts()
    for block in blocks(text_of(job), cuts, job.sizes.block):
        ids = tokenizer.encode(block)
        tokens += len(ids)
        file.write(ids.astype(job.kind.dtype, copy=False).tobytes())
        if job.shard.part == "validation":
            missing.add(tokenizer, block)
        tell(len(block))
    file.seek(0)
    file.write(job.kind.header(tokens))
    file.flush()
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = file.tell()
    sync(file.fileno())
    return FinishedShard(
        job.shard.name, tokens, size, digest, missing.tokens, missing.spelled, missing.examples
    )


def text_of(job: ShardJob) -> Iterator[str]:
    """The part of the text that a shard holds, in pieces.

    Raises:
        RunError: the text is shorter than it was.
    """
    shard = job.shard
    files = TextFiles(job.paths, job.encoding, start=shard.landmark, piece=job.sizes.piece)
    place = shard.landmark.characters
    for text in files:
        part = text[max(shard.begin - place, 0) : max(shard.end - place, 0)]
        place += len(text)
        if part:
            yield part
        if place >= shard.end:
            return
    raise RunError(
        f"the text ({', '.join(files.names)}) was changed while it was prepared: it ends after "
        f"{place:,} characters"
    )


@lru_cache(1)
def _tokenizer(path: Path, fingerprint: str) -> Tokenizer:
    """Read once in each process; `fingerprint` is part of what is remembered."""
    tokenizer = load_tokenizer(path)
    if tokenizer.fingerprint != fingerprint:
        raise RunError(f"{path} is not the tokenizer that the shards are made with")
    return tokenizer
