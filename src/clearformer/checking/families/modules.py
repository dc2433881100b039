"""Exercises as modules of PyTorch: what constructors ask for, and what parameters are called."""

from typing import Any

from clearformer.checking.module_form import Given, Held, ModuleForm

MODEL = ("d_model", "d_in", "n_embd", "embed_dim", "embed_size", "emb_dim", "dim", "C", "hidden")
"""What the width of the model is called."""
PROJECTIONS = {
    "W_Q": Held(("query", "q_proj", "w_q", "wq", "w_query", "q", "to_q", "linear_q", "fc_q")),
    "W_K": Held(("key", "k_proj", "w_k", "wk", "w_key", "k", "to_k", "linear_k", "fc_k")),
    "W_V": Held(("value", "v_proj", "w_v", "wv", "w_value", "v", "to_v", "linear_v", "fc_v")),
}
FUSED = dict.fromkeys(("c_attn", "qkv", "qkv_proj", "w_qkv", "in_proj"), ("W_Q", "W_K", "W_V"))


def _width(name: str, axis: int) -> Any:
    """Reads a size off an argument."""

    def read(given: Given) -> int:
        return int(given[name].shape[axis])

    return read


ONE_HEAD = ModuleForm(
    call=("X",),
    sizes={"d_model": _width("W_Q", 0), "d_k": _width("W_Q", 1), "d_v": _width("W_V", 1)},
    size_names={
        "d_model": MODEL,
        "d_k": ("d_out", "head_size", "head_dim", "d_head", "d_key", "d_attn"),
        "d_v": ("d_value",),
    },
    held=PROJECTIONS,
    fused=FUSED,
)
"""Self-attention of one head."""

NORM = ModuleForm(
    call=("x",),
    sizes={"d": _width("x", -1)},
    size_names={"d": (*MODEL, "features", "normalized_shape", "num_features", "size")},
    held={
        "gamma": Held(("weight", "scale", "g", "gain", "a_2")),
        "beta": Held(("bias", "shift", "b", "b_2")),
    },
)
"""Layer normalisation."""

RMS = ModuleForm(
    call=("x",),
    sizes={"d": _width("x", -1)},
    size_names=NORM.size_names,
    held={"gamma": Held(("weight", "scale", "g", "gain"))},
)
"""RMS normalisation."""

TABLE = ModuleForm(
    call=("ids",),
    sizes={"vocab_size": _width("table", 0), "d": _width("table", 1)},
    size_names={
        "vocab_size": ("vocab", "num_embeddings", "n_vocab", "V"),
        "d": (*MODEL, "embedding_dim"),
    },
    held={"table": Held(("embedding", "embed", "tok_emb", "wte", "weight", "emb"))},
)
"""An embedding table."""

TWO_LAYERS = ModuleForm(
    call=("x",),
    sizes={"d_model": _width("W_1", 0), "d_ff": _width("W_1", 1)},
    size_names={
        "d_model": ("d_model", "d_in", "n_embd", "embed_dim", "emb_dim", "dim", "C"),
        "d_ff": ("hidden", "hidden_dim", "d_hidden", "ff_dim", "d_mlp", "hidden_size"),
    },
    held={
        "W_1": Held(("fc1", "linear1", "c_fc", "w1", "up", "up_proj", "lin1", "net.0")),
        "b_1": Held(("fc1.bias", "linear1.bias", "c_fc.bias", "up.bias", "lin1.bias")),
        "W_2": Held(("fc2", "linear2", "c_proj", "w2", "down", "down_proj", "lin2", "net.2")),
        "b_2": Held(("fc2.bias", "linear2.bias", "c_proj.bias", "down.bias", "lin2.bias")),
    },
)
"""The feed-forward layer."""
