"""The path from one-hot rows to a model that writes: exercises in order, a folder of answers."""

from pathlib import Path

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


def begun(folder: Path) -> tuple[str, ...]:
    """The exercises from the first on whose files are there, up to the first that is missing."""
    for number, name in enumerate(PATH):
        if not answer_in(folder, name).exists():
            return PATH[:number]
    return PATH
