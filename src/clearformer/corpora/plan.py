"""What is going to be made of a text: its tokenizer, and which part of it each shard holds."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from clearformer.corpora.fields import (
    count_in,
    digest_in,
    entry_of,
    fields_of,
    list_in,
    text_in,
)
from clearformer.errors import TextError
from clearformer.text.shards import Kind
from clearformer.text.text_files import Landmark
from clearformer.text.tokenizer import KINDS

FORMAT = 1
"""Version of `data.json` and `preparing.json`; raised when an older program could not read it."""

LARGEST_VOCABULARY = 2**32
"""Ids of four bytes, the widest of a shard."""

SHARD_NAME = re.compile(r"(train|validation)-[0-9]{5,9}\.ids")
"""No other name is ever taken from a file."""


@dataclass(frozen=True)
class Source:
    """A file of the text."""

    name: str
    """As a person is shown it."""

    bytes: int
    sha256: str

    @classmethod
    def from_json(cls, found: Any) -> "Source":
        """The opposite of `asdict`. Raises ValueError."""
        entry = fields_of(found, {field.name for field in fields(cls)}, "a source")
        return cls(text_in(entry, "name"), count_in(entry, "bytes"), digest_in(entry, "sha256"))


@dataclass(frozen=True)
class PlannedShard:
    """The part of the text that one shard holds."""

    name: str
    begin: int
    """Characters of the text before it."""

    end: int
    """Characters up to its end. A space that the tokenizer implies can lie before the next."""

    landmark: Landmark
    """Where to begin to read."""

    @property
    def part(self) -> str:
        """`train` or `validation`."""
        return self.name.split("-")[0]

    def to_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "name": self.name,
            "begin": self.begin,
            "end": self.end,
            "landmark": self.landmark.to_json(),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "PlannedShard":
        """The opposite of `to_json`; other keys are left alone. Raises ValueError."""
        name = text_in(entry, "name")
        if not SHARD_NAME.fullmatch(name):
            raise ValueError(f"{name[:40]!a} is not the name of a shard")
        landmark = entry.get("landmark")
        if not isinstance(landmark, dict):
            raise ValueError("a shard has a landmark")
        begin, end = count_in(entry, "begin"), count_in(entry, "end")
        if begin > end:
            raise ValueError(f"{name} ends before it begins")
        return cls(name, begin, end, Landmark.from_json(landmark))


@dataclass(frozen=True)
class Plan:
    """All that is known of a prepared text before its shards are made."""

    tokenizer: str
    """Its kind."""

    asked: int | None
    """The vocabulary that was asked for."""

    vocabulary: int
    fingerprint: str
    """Of the tokenizer."""

    encoding: str
    sources: tuple[Source, ...]
    characters: int
    border: int
    """Characters to learn from; the others are to be judged by."""

    text: str
    """SHA-256 of the text in UTF-8."""

    notes: tuple[str, ...]
    """What was noticed while it was read, one sentence each."""

    shards: tuple[PlannedShard, ...]

    @property
    def kind(self) -> Kind:
        """What the shards have in common."""
        return Kind(self.vocabulary, self.fingerprint)

    def to_json(self) -> dict[str, object]:
        """What `preparing.json` holds."""
        return {
            "format": FORMAT,
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "sources": [asdict(source) for source in self.sources],
            "notes": list(self.notes),
            "shards": [shard.to_json() for shard in self.shards],
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any], source: str) -> "Plan":
        """The opposite of `to_json`; shards may have more keys.

        Raises:
            TextError: of a newer format, or damaged; `source` names the file.
        """
        version = found.get("format")
        if type(version) is int and version > FORMAT:
            raise TextError(
                f"{source} has format {version}, this clearformer reads up to {FORMAT}; upgrade it"
            )
        try:
            if version != FORMAT:
                raise ValueError(f"its format is {str(version)[:40]!a}")
            return cls._from_fields(found)
        except ValueError as fault:
            raise TextError(f"{source} is damaged: {fault}; prepare the text again") from None

    @classmethod
    def _from_fields(cls, found: Mapping[str, Any]) -> "Plan":
        names = {field.name for field in fields(cls)}
        entry = fields_of(found, names | {"format"}, "it")
        notes = list_in(entry, "notes")
        if not all(isinstance(note, str) for note in notes):
            raise ValueError("its notes are no sentences")
        if entry["tokenizer"] not in KINDS:
            raise ValueError(f"its tokenizer is {str(entry['tokenizer'])[:40]!a}")
        plan = cls(
            tokenizer=entry["tokenizer"],
            asked=None if entry["asked"] is None else count_in(entry, "asked"),
            vocabulary=count_in(entry, "vocabulary"),
            fingerprint=digest_in(entry, "fingerprint"),
            encoding=text_in(entry, "encoding"),
            sources=tuple(Source.from_json(each) for each in list_in(entry, "sources")),
            characters=count_in(entry, "characters"),
            border=count_in(entry, "border"),
            text=digest_in(entry, "text"),
            notes=tuple(notes),
            shards=tuple(
                PlannedShard.from_json(entry_of(each)) for each in list_in(entry, "shards")
            ),
        )
        if not (1 <= plan.vocabulary <= LARGEST_VOCABULARY and plan.border <= plan.characters):
            raise ValueError("its vocabulary or border is out of range")
        if len({shard.name for shard in plan.shards}) < len(plan.shards):
            raise ValueError("a shard occurs twice")
        plan._require_cover("train", 0, plan.border)
        plan._require_cover("validation", plan.border, plan.characters)
        return plan

    def _require_cover(self, part: str, begin: int, end: int) -> None:
        """Raises ValueError unless the shards of a part follow each other from begin to end."""
        place = begin
        for shard in self.shards:
            if shard.part != part:
                continue
            if not 0 <= shard.begin - place <= (place > begin):  # a space can lie between
                raise ValueError(f"{shard.name} does not begin where the shard before it ends")
            place = shard.end
        if place != end:
            raise ValueError(f"its shards hold {place:,} characters, not {end:,}")
