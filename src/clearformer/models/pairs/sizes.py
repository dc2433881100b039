"""The size dial of models on pairs: about as many parameters as a decoder of the same size."""

from collections.abc import Mapping
from typing import Any

SEQ2SEQ: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"layers": 1, "embed": 32, "context": 32},
    "small": {"layers": 1, "embed": 128, "context": 64},
    "medium": {"layers": 2, "embed": 384, "context": 256},
    "large": {"layers": 4, "embed": 768, "context": 1024},
}
ENCODER_DECODER: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"layers": 1, "heads": 2, "embed": 64, "context": 32},
    "small": {"layers": 2, "heads": 4, "embed": 128, "context": 64},
    "medium": {"layers": 3, "heads": 6, "embed": 384, "context": 256},
    "large": {"layers": 6, "heads": 12, "embed": 768, "context": 1024},
}
