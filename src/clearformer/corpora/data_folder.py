"""The folder of a prepared text, opened to train on.

DATA/data.json              what was made of which text; written last, it vouches for the others
    tokenizer.json          as in a run
    train-00000.ids         shards of ids to learn from, see `text.shards`
    validation-00000.ids    and to be judged by
    preparing.json          only until data.json is there: the plan
    finished.jsonl          and which shards of it are finished
    lock                    see `training.lock`
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from clearformer.corpora.finished import FinishedShard
from clearformer.corpora.place import DATA, PLAN, TOKENIZER, is_begun, write_json
from clearformer.corpora.plan import Plan
from clearformer.errors import RunError, TextError
from clearformer.text.ordinary_file import open_ordinary
from clearformer.text.shards import AGAIN, Shard, ShardedIds
from clearformer.text.tokenizer import Tokenizer, load_tokenizer
from clearformer.training import strict_json
from clearformer.training.durable import in_one_line
from clearformer.training.judged import Judged, judged_ids


@dataclass(frozen=True, eq=False)
class Data:
    """A prepared text; its ids are read where they are asked for."""

    path: Path
    plan: Plan
    finished: Mapping[str, FinishedShard]
    """By name of the shard."""

    tokenizer: Tokenizer

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the text in UTF-8, as that of a `Corpus`."""
        return self.plan.text

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the files that the text was read from."""
        return tuple(source.name for source in self.plan.sources)

    @cached_property
    def train(self) -> ShardedIds:
        """The ids to learn from. Raises TextError where a shard is not as it was made."""
        return self._ids("train")

    @cached_property
    def validation(self) -> Judged:
        """The end of the text. Raises TextError where a shard is not as it was made."""
        shards = [
            self.finished[shard.name] for shard in self.plan.shards if shard.part == "validation"
        ]
        examples: dict[str, int] = {}
        for shard in shards:
            for piece, count in shard.unknown.items():
                examples[piece] = examples.get(piece, 0) + count
        return judged_ids(
            self.tokenizer,
            self._ids("validation"),
            characters=self.plan.characters - self.plan.border,
            unknown=examples,
            unknown_tokens=sum(shard.unknown_tokens for shard in shards),
            spelled=sum(shard.spelled for shard in shards),
        )

    def _ids(self, part: str) -> ShardedIds:
        shards = [
            Shard(self.path / shard.name, self.finished[shard.name].tokens)
            for shard in self.plan.shards
            if shard.part == part
        ]
        return ShardedIds(shards, self.plan.kind)


def is_data(path: Path) -> bool:
    """Whether `path` is a folder that `prepare` has made, or has begun to make."""
    try:
        return path.is_dir() and (
            any((path / name).exists() for name in (DATA, PLAN)) or is_begun(path)
        )
    except (OSError, ValueError):
        return False


def open_data(path: Path) -> Data:
    """Opens a prepared text; of the shards size and header are looked at when they are used.

    Raises:
        TextError: it is not finished or damaged, or was made by a newer version.
        TokenizerError: its tokenizer cannot be read.
    """
    if not is_data(path):
        raise TextError(
            f"{path} is no prepared text: expected a folder with {DATA}; make one with: "
            f"clearformer prepare TEXT --out {path}"
        )
    if not (path / DATA).exists():
        raise TextError(
            f"{path} is not finished: prepare it with the command that was begun, and it goes on"
        )
    try:
        with in_one_line("read", path / DATA):
            found = strict_json.read(path / DATA)
    except RunError as fault:
        raise TextError(f"{fault}; {AGAIN}") from None
    plan, finished = read_finished(found, f"{path / DATA}")
    tokenizer = load_tokenizer(path / TOKENIZER)
    if tokenizer.fingerprint != plan.fingerprint or tokenizer.vocabulary_size != plan.vocabulary:
        raise TextError(f"{path / TOKENIZER} is not the tokenizer of the shards; {AGAIN}")
    return Data(path, plan, finished, tokenizer)


def read_finished(
    found: Mapping[str, object], source: str
) -> tuple[Plan, dict[str, FinishedShard]]:
    """What `data.json` holds.

    Raises:
        TextError: of a newer format, or damaged; `source` names the file.
    """
    plan = Plan.from_json(found, source)
    try:
        entries: Iterable[Mapping[str, object]] = found["shards"]  # type: ignore[assignment]
        finished = {entry.name: entry for entry in map(FinishedShard.from_json, entries)}
        for shard in plan.shards:
            tokens = finished[shard.name].tokens
            if finished[shard.name].bytes != plan.kind.bytes(tokens):
                raise ValueError(f"{shard.name} has not the size of {tokens:,} ids")
    except ValueError as fault:
        raise TextError(f"{source} is damaged: {fault}; {AGAIN}") from None
    return plan, finished


def write_data(folder: Path, plan: Plan, finished: Mapping[str, FinishedShard]) -> None:
    """Writes `data.json`, whole or not at all.

    Raises:
        RunError: the disk refuses.
    """
    content = plan.to_json()
    content["shards"] = [
        {**shard.to_json(), **asdict(finished[shard.name])} for shard in plan.shards
    ]
    write_json(folder / DATA, content)


def is_as_made(folder: Path, shard: FinishedShard) -> bool:
    """Whether a shard is there, with every byte as it was written.

    Raises:
        RunError: it cannot be read now, so nobody knows.
    """
    path = folder / shard.name
    with in_one_line("read", path):
        if not path.is_file() or path.stat().st_size != shard.bytes:
            return False
        with open_ordinary(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == shard.sha256


def verify(data: Data) -> None:
    """Reads every shard and compares it with what `data.json` says.

    Raises:
        TextError: naming the first that differs.
        RunError: one cannot be read.
    """
    for shard in data.finished.values():
        if not is_as_made(data.path, shard):
            raise TextError(
                f"{data.path / shard.name} is missing or damaged: its SHA-256 is not "
                f"{shard.sha256[:12]}…; {AGAIN}"
            )
