"""The size dial of recurrent models: as many parameters as a decoder of the same size has."""

from collections.abc import Mapping
from typing import Any

SIZES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"layers": 1, "embed": 64, "context": 32},
    "small": {"layers": 2, "embed": 128, "context": 64},
    "medium": {"layers": 3, "embed": 384, "context": 256},
    "large": {"layers": 6, "embed": 768, "context": 1024},
}
"""Half as many layers as a decoder; the width of the state follows, for each kind its own."""
