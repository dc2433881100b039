"""What is known of a shard once it is made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.corpora.fields import count_in, digest_in, text_in


@dataclass(frozen=True)
class FinishedShard:
    """What was found while a shard was made."""

    name: str
    tokens: int
    bytes: int
    """Size of the file."""

    sha256: str
    """Of the file."""

    unknown_tokens: int
    """Of a part to be judged by: how often the vocabulary lacks something (see `judged`)."""

    spelled: int
    """Bytes that spell it."""

    unknown: Mapping[str, int]
    """The first of it, with counts."""

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "FinishedShard":
        """The opposite of `asdict`; other keys are left alone. Raises ValueError."""
        unknown = found.get("unknown")
        if not isinstance(unknown, dict) or any(type(n) is not int for n in unknown.values()):
            raise ValueError("what is unknown has counts")
        counts = (
            count_in(found, name) for name in ("tokens", "bytes", "unknown_tokens", "spelled")
        )
        tokens, size, unknown_tokens, spelled = counts
        digest = digest_in(found, "sha256")
        return cls(text_in(found, "name"), tokens, size, digest, unknown_tokens, spelled, unknown)
