"""Which exercises were probably meant by a word that names none."""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

MOST = 4

SHORT = {
    "rope": "rotary_positions",
    "ffn": "feed_forward",
    "mlp": "feed_forward",
    "bptt": "truncated_bptt",
    "sgns": "skipgram_loss",
    "transformer_block": "pre_norm_block",
    "block": "pre_norm_block",
    "dataloader": "get_batch",
    "sgd": "gradient_descent",
    "scheduler": "learning_rate",
}
"""Short names in use that neither a name nor a title holds."""


def nearest(word: str, names: Sequence[str], titles: Callable[[], Mapping[str, str]]) -> list[str]:
    """At most four: by what the letters stand for, by a word in it, by spelling, by a title.

    Args:
        word: what was asked for.
        names: of the exercises.
        titles: gives the title of each; called only where the names say nothing.
    """
    asked = re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")
    found = [SHORT[asked]] if asked in SHORT else []
    found += [name for name in names if _initials(name) == asked]
    found += [name for name in names if name.endswith(f"_{asked}")]
    found += [name for name in names if name.startswith(f"{asked}_")]
    found += [name for name in names if f"_{asked}_" in name]
    found = found or get_close_matches(asked, names, MOST, 0.6)
    if not found and len(asked) > 2:
        found = [name for name, title in titles().items() if word.lower() in title.lower()]
    found = found or get_close_matches(asked, names, MOST - 1, 0.4)
    return list(dict.fromkeys(found))[:MOST]


def _initials(name: str) -> str:
    return "".join(part[0] for part in name.split("_"))
