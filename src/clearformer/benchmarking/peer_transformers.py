"""Hugging Face's Llama as a peer: a model of the same shape, and its own `generate` with a cache.

Needs transformers and PyTorch: `pip install transformers torch`. Its weights are random: how long a
token takes does not depend on them.
"""

from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from clearformer.models.configuration import ModelConfiguration


def generator(configuration: ModelConfiguration) -> Callable[[int, float], int]:
    """A function that makes tokens at a temperature after a prompt of one, and counts them."""
    c = configuration.completed
    shape = LlamaConfig(
        vocab_size=c.vocabulary,
        hidden_size=c.embed,
        intermediate_size=c.hidden,
        num_hidden_layers=c.layers,
        num_attention_heads=c.heads,
        num_key_value_heads=c.key_value_heads,
        max_position_embeddings=c.context + 1,
        bos_token_id=None,
        eos_token_id=None,
        pad_token_id=0,
    )
    model = LlamaForCausalLM(shape).eval()
    prompt = torch.zeros((1, 1), dtype=torch.long)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def generate(tokens: int, temperature: float) -> int:
        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0}
        made = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            use_cache=True,
            **(drawn if temperature else {"do_sample": False}),
        )
        return int(made.shape[1]) - 1

    return generate
