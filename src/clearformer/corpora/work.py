"""One go at a request: does what is not done yet, and keeps what is finished."""

import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clearformer.corpora.crew import Crew
from clearformer.corpora.data_folder import is_as_made, read_finished, write_data
from clearformer.corpora.finished import FinishedShard
from clearformer.corpora.place import DATA, FINISHED, PLAN, TOKENIZER, remove_leftovers
from clearformer.corpora.plan import Plan
from clearformer.corpora.planning import new_plan
from clearformer.corpora.request import Request
from clearformer.corpora.shard_writer import ShardJob, write_shard
from clearformer.corpora.sizes import Sizes
from clearformer.corpora.watch import Progress
from clearformer.errors import ClearformerError, RunError, TextError
from clearformer.text.tokenizer import load_tokenizer
from clearformer.training import run_log, strict_json
from clearformer.training.durable import in_one_line


@dataclass(frozen=True)
class Outcome:
    """What was made."""

    data: Path
    plan: Plan
    tokens: int
    """To learn from."""

    validation_tokens: int
    reused: int
    """Shards that were finished before."""

    bytes: int
    """Size of all shards."""

    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The keys of `prepare --json`."""
        plan = self.plan
        return {
            "data": str(self.data),
            "tokenizer": plan.tokenizer,
            "vocabulary": plan.vocabulary,
            "characters": plan.characters,
            "tokens": self.tokens,
            "validation_tokens": self.validation_tokens,
            "shards": len(plan.shards),
            "reused": self.reused,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "notes": list(plan.notes),
        }


class Work:
    """Makes the folder of a request, or goes on with it."""

    def __init__(self, request: Request, sizes: Sizes, progress: Progress) -> None:
        self._request, self._sizes, self._progress = request, sizes, progress
        self._folder = request.folder
        self._finished: dict[str, FinishedShard] = {}
        self._shards = 0

    def where_it_stands(self) -> str:
        """For whoever stopped it."""
        if not self._shards:
            return "stopped before a shard was finished; start the same command again"
        return (
            f"stopped; {len(self._finished)} of {self._shards} shards are finished and kept: "
            "start the same command again, and it goes on from there"
        )

    def run(self, crew: Crew) -> Outcome:
        """Does all that is not done yet.

        Raises:
            TextError, ConfigurationError, RunError: see `prepare`.
            StoppedError: it was asked to stop.
        """
        begun = time.monotonic()
        stamps = self._request.stamps()
        remove_leftovers(self._folder)
        plan = self._plan(crew)
        self._shards = len(plan.shards)
        reused = self._still_good(plan)
        if reused:
            self._progress.note(
                f"{reused} of {self._shards} shards were finished before and are kept"
            )
        self._encode(plan, crew)
        if self._request.stamps() != stamps:
            raise RunError(
                f"the text was changed while it was prepared; remove {self._folder} and start again"
            )
        write_data(self._folder, plan, self._finished)
        with in_one_line("remove", self._folder / PLAN):
            for name in (PLAN, FINISHED):
                (self._folder / name).unlink(missing_ok=True)
        return self._outcome(plan, reused, time.monotonic() - begun)

    def _outcome(self, plan: Plan, reused: int, seconds: float) -> Outcome:
        tokens = {"train": 0, "validation": 0}
        for shard in plan.shards:
            tokens[shard.part] += self._finished[shard.name].tokens
        size = sum(shard.bytes for shard in self._finished.values())
        return Outcome(
            self._folder, plan, tokens["train"], tokens["validation"], reused, size, seconds
        )

    def _plan(self, crew: Crew) -> Plan:
        """The plan that was begun, if it is of the same request, or a new one."""
        known = self._known()
        if known is not None:
            self._request.require_same(known, self._progress)
            if _tokenizer_fits(self._folder, known):
                return known
            self._progress.note(f"{TOKENIZER} was damaged and is made again")
        plan = new_plan(self._request, crew, self._sizes, self._progress)
        if plan != known:
            self._finished = {}
        return plan

    def _known(self) -> Plan | None:
        """What an earlier go has planned, and finished."""
        folder = self._folder
        for name in (DATA, PLAN):
            path = folder / name
            if not path.exists():
                continue
            try:
                with in_one_line("read", path):
                    found = strict_json.read(path)
                if name == DATA:
                    plan, self._finished = read_finished(found, str(path))
                    return plan
                plan = Plan.from_json(found, str(path))
            except (RunError, TextError) as fault:
                raise RunError(f"{fault}; or remove {path} first, to begin anew") from None
            self._finished = _logged(folder / FINISHED)
            return plan
        return None

    def _still_good(self, plan: Plan) -> int:
        """How many shards are finished; those that are damaged are not."""
        planned = {shard.name for shard in plan.shards}
        known = {name: each for name, each in self._finished.items() if name in planned}
        self._finished = {}
        if known:
            size = sum(shard.bytes for shard in known.values())
            self._progress.begin("checking what is finished", size)
        for name, shard in known.items():
            if is_as_made(self._folder, shard):
                self._finished[name] = shard
            else:
                self._progress.note(f"{name} is missing or damaged and is made again")
            self._progress.done(shard.bytes)
        return len(self._finished)

    def _encode(self, plan: Plan, crew: Crew) -> None:
        wanted = [shard for shard in plan.shards if shard.name not in self._finished]
        if not wanted:
            return
        characters = sum(shard.end - shard.begin for shard in wanted)
        before = crew.done
        size = self._request.bytes * characters // plan.characters
        self._progress.begin("encoding", size, lambda: (crew.done - before) / characters)
        jobs = (
            ShardJob(
                folder=self._folder,
                paths=self._request.paths,
                encoding=plan.encoding,
                tokenizer=self._folder / TOKENIZER,
                kind=plan.kind,
                shard=shard,
                sizes=self._sizes,
            )
            for shard in wanted
        )
        for finished in crew.results(write_shard, jobs):
            run_log.append(self._folder / FINISHED, asdict(finished))
            self._finished[finished.name] = finished


def _tokenizer_fits(folder: Path, plan: Plan) -> bool:
    try:
        return load_tokenizer(folder / TOKENIZER).fingerprint == plan.fingerprint
    except ClearformerError:
        return False


def _logged(path: Path) -> dict[str, FinishedShard]:
    """The shards that an earlier go has finished; a damaged line is one that is not."""
    found: dict[str, FinishedShard] = {}
    with suppress(RunError):
        for line in run_log.read(path):
            with suppress(ValueError):
                shard = FinishedShard.from_json(line)
                found[shard.name] = shard
    return found
