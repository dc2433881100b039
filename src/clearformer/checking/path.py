"""The path from one-hot rows to a model that writes: exercises in order, a folder of answers."""

import contextlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from clearformer.version import __version__

RECORD = ".judged.json"
"""In the folder of the answers: which are right as they are."""

PATH = (
    "one_hot",
    "embedding",
    "positional_encoding",
    "query_key_value",
    "attention_scores",
    "scaled_scores",
    "causal_mask",
    "softmax",
    "self_attention",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
    "layer_norm",
    "feed_forward",
    "pre_norm_block",
    "cross_entropy",
    "get_batch",
    "cross_entropy_gradient",
    "embedding_gradient",
    "adam_step",
    "learning_rate",
    "clip_gradients",
    "temperature",
    "top_k",
    "top_p",
    "kv_cache_step",
)
"""What the tutorial of the whole Transformer is made of; the catalogue holds more."""


def answer_in(folder: Path, name: str) -> Path:
    """Where the answer to an exercise lies."""
    return folder / f"{name}.py"


def there(folder: Path) -> tuple[str, ...]:
    """The exercises whose files are there, in order."""
    return tuple(name for name in PATH if answer_in(folder, name).exists())


def waiting(folder: Path, right: Iterable[str]) -> list[str]:
    """What is there and not known to be right as it is, what was changed last first.

    Where all are there and right, all of them: at the end of the path each is judged once more.
    """
    names = there(folder)
    left = [name for name in names if name not in set(right)]
    if names == PATH and not left:
        left = list(PATH)
    return sorted(left, key=lambda name: -_changed_at(answer_in(folder, name)))


def _changed_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # it went away just now, which is said when it is judged
        return 0.0


@dataclass
class Judged:
    """What was judged right in a folder, kept in a file of it, each with what was in the answer.

    What changes afterwards, or of which an answer that it imports changes, is to be judged again.
    """

    folder: Path
    images: dict[str, str] = field(default_factory=dict)
    """By the name of the exercise, of those that are right."""

    @classmethod
    def of(cls, folder: Path) -> "Judged":
        """As it was left; nothing where there is no record, or one that cannot be read."""
        try:
            held = json.loads((folder / RECORD).read_text("utf-8"))
            return cls(folder, {str(name): str(image) for name, image in held.items()})
        except (OSError, ValueError, AttributeError, RecursionError):
            return cls(folder)

    def right(self) -> list[str]:
        """Names of what is right as it is now, in order."""
        return [
            name
            for name in there(self.folder)
            if self.images.get(name) == _image(self.folder, name)
        ]

    def keep(self, name: str, is_right: bool) -> None:
        """Remembers a verdict; in this process only, where the folder cannot be written to."""
        if is_right:
            self.images[name] = _image(self.folder, name)
        elif self.images.pop(name, None) is None:
            return
        with contextlib.suppress(OSError):
            (self.folder / RECORD).write_text(json.dumps(self.images, indent=0), "utf-8")


def _image(folder: Path, name: str) -> str:
    """Differs as soon as the answer differs, or one that it imports, or what judges them."""
    image = sha256(__version__.encode())
    found, left = {name}, [name]
    while left:
        try:
            text = answer_in(folder, left.pop()).read_bytes()
        except OSError:
            continue
        image.update(text)
        imports = {match.decode("ascii") for match in _IMPORT.findall(text)}
        near = sorted(each for each in imports - found if answer_in(folder, each).exists())
        found.update(near)
        left += near
    return image.hexdigest()


_IMPORT = re.compile(rb"^\s*(?:from|import)\s+([A-Za-z_]\w*)", re.MULTILINE | re.ASCII)
