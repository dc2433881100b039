"""The peer in plain PyTorch; it lives in the package, where `clearformer bench` uses it, too."""

from clearformer.benchmarking.peer_torch import (
    Decoder,
    adamw,
    generate,
    next_token_loss,
    train_step,
)

__all__ = ["Decoder", "adamw", "generate", "next_token_loss", "train_step"]
