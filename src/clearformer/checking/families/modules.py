"""How exercises are written as an `nn.Module`, with the names that learners use."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.checking.module_form import Given, Held, ModuleForm

_WIDTH = (
    "d_model", "n_embd", "n_embed", "embed_dim", "emb_dim", "embedding_dim", "embed_size",
    "hidden_size", "hidden_dim", "d_in", "in_features", "in_dim", "input_dim", "input_size", "dim",
    "features", "num_features", "normalized_shape", "width", "size", "channels", "C", "d",
)  # fmt: skip
_HEAD = ("head_size", "d_head", "head_dim", "d_out", "out_features", "out_dim", "d_q", "dim_k")
_TOKENS = ("block_size", "context_length", "context_size", "seq_len", "max_len", "max_seq_len", "T")
_HEADS = ("n_head", "num_heads", "nhead", "heads", "h", "H")
_STATE = ("n_hidden", "hidden", "d_hidden", "units", "n", "state_size")

_FIRST = ("fc1", "linear1", "w1", "up", "c_fc", "fc_1", "lin1", "l1", "layer1", "up_proj", "fc_in")
_SECOND = (
    "fc2", "linear2", "w2", "down", "c_proj", "fc_2", "lin2", "l2", "layer2", "down_proj", "fc_out",
)  # fmt: skip
_OF_INPUT = ("i2h", "x2h", "w_x", "w_ih", "weight_ih", "w_xh", "input", "ih", "xh")
_OF_STATE = ("h2h", "w_h", "w_hh", "weight_hh", "hidden", "hh")


def _biases(*layers: str) -> tuple[str, ...]:
    """Of layers with these names; of two that are added, one holds the bias of both."""
    return tuple(f"{name}.bias" for name in layers)


QUERY = Held(("query", "q", "to_q", "q_proj", "w_query", "q_linear", "fc_q", "query_proj"))
KEY = Held(("key", "k", "to_k", "k_proj", "w_key", "k_linear", "fc_k", "key_proj"))
VALUE = Held(("value", "v", "to_v", "v_proj", "w_value", "v_linear", "fc_v", "value_proj"))
OUTPUT = Held(
    ("proj", "c_proj", "out", "out_proj", "o_proj", "to_out", "w_out", "output", "fc_o", "o")
)
_PROJECTIONS = ("W_Q", "W_K", "W_V")
FUSED = dict.fromkeys(("c_attn", "qkv", "to_qkv", "qkv_proj", "in_proj_weight"), _PROJECTIONS)


def _one_width(given: Given) -> Mapping[str, Any]:
    """Queries, keys and values all as wide as the narrowest."""
    width = min(given[name].shape[-1] for name in _PROJECTIONS)
    return {name: given[name][..., :width] for name in _PROJECTIONS}


ATTENTION = ModuleForm(
    call=("X",),
    sizes={
        "d_model": lambda given: given["W_Q"].shape[0],
        "d_k": lambda given: given["W_Q"].shape[1],
        "d_v": lambda given: given["W_V"].shape[1],
        "n_tokens": lambda given: given["X"].shape[-2],
    },
    size_names={
        "d_model": _WIDTH,
        "d_k": (*_HEAD, "d_key"),
        "d_v": ("d_value", "dim_v", "v_dim"),
        "n_tokens": _TOKENS,
    },
    held={"W_Q": QUERY, "W_K": KEY, "W_V": VALUE},
    fused=FUSED,
    narrowed=_one_width,
)
"""`Head(d_model, d_k, d_v)(X)`: self_attention(X, W_Q, W_K, W_V)."""

CROSS_ATTENTION = ModuleForm(
    call=("X", "memory"),
    sizes={
        "d_model": lambda given: given["W_Q"].shape[0],
        "d_memory": lambda given: given["W_K"].shape[0],
        "d_k": lambda given: given["W_Q"].shape[1],
        "d_v": lambda given: given["W_V"].shape[1],
    },
    size_names={
        "d_model": _WIDTH,
        "d_memory": ("memory_dim", "context_dim", "d_context", "kv_dim"),
        "d_k": (*_HEAD, "d_key"),
        "d_v": ("d_value", "dim_v", "v_dim"),
    },
    held={"W_Q": QUERY, "W_K": KEY, "W_V": VALUE},
    fused=dict.fromkeys(("kv", "to_kv", "kv_proj"), ("W_K", "W_V")),
    narrowed=_one_width,
)
"""`Cross(d_model, …)(X, memory)`: cross_attention(X, memory, W_Q, W_K, W_V)."""

MULTI_HEAD = ModuleForm(
    call=("X",),
    sizes={
        "d_model": lambda given: given["X"].shape[-1],
        "n_heads": lambda given: given["n_heads"],
        "n_tokens": lambda given: given["X"].shape[-2],
    },
    size_names={"d_model": _WIDTH, "n_heads": _HEADS, "n_tokens": _TOKENS},
    held={"W_Q": QUERY, "W_K": KEY, "W_V": VALUE, "W_O": OUTPUT},
    fused=FUSED,
)
"""`MultiHead(d_model, n_heads)(X)`: multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads)."""

LAYER_NORM = ModuleForm(
    call=("x",),
    sizes={"d_model": lambda given: given["x"].shape[-1]},
    size_names={"d_model": _WIDTH},
    held={
        "gamma": Held(("weight", "scale", "gain", "g", "a_2", "alpha")),
        "beta": Held(("bias", "shift", "b", "b_2")),
    },
)
"""`LayerNorm(d_model, eps)(x)`: layer_norm(x, gamma, beta)."""

RMS_NORM = ModuleForm(
    call=("x",),
    sizes={"d_model": lambda given: given["x"].shape[-1]},
    size_names={"d_model": _WIDTH},
    held={"gamma": Held(("weight", "scale", "gain", "g", "alpha"))},
)
"""`RMSNorm(d_model, eps)(x)`: rms_norm(x, gamma)."""

EMBEDDING = ModuleForm(
    call=("ids",),
    sizes={
        "n_vocabulary": lambda given: given["table"].shape[0],
        "d_model": lambda given: given["table"].shape[1],
    },
    size_names={
        "n_vocabulary": ("vocab_size", "n_vocab", "num_embeddings", "vocab", "V"),
        "d_model": _WIDTH,
    },
    held={
        "table": Held(("embedding", "emb", "embed", "tok_emb", "token_embedding", "wte", "weight"))
    },
)
"""`Embedding(n_vocabulary, d_model)(ids)`: embedding(ids, table)."""


def _four_times(given: Given) -> Mapping[str, Any]:
    """The hidden width four times the outer one, from the columns that there are."""
    d, hidden = given["W_1"].shape
    column = np.arange(4 * d) % hidden
    other = 0.8 ** (np.arange(4 * d) // hidden)  # so that no two hidden units are the same
    return {
        "W_1": given["W_1"][:, column] * other,
        "b_1": given["b_1"][column] * other,
        "W_2": given["W_2"][column] * other[:, None],
    }


FEED_FORWARD = ModuleForm(
    call=("x",),
    sizes={
        "d_model": lambda given: given["W_1"].shape[0],
        "d_hidden": lambda given: given["W_1"].shape[1],
    },
    size_names={
        "d_model": _WIDTH,
        "d_hidden": ("d_ff", "ff_dim", "hidden", "inner_dim", "d_inner"),
    },
    held={
        "W_1": Held(_FIRST),
        "b_1": Held(_biases("W_1", *_FIRST)),
        "W_2": Held(_SECOND),
        "b_2": Held(_biases("W_2", *_SECOND)),
    },
    narrowed=_four_times,
)
"""`FeedForward(d_model, d_hidden)(x)`: feed_forward(x, W_1, b_1, W_2, b_2)."""

RNN = ModuleForm(
    call=("X", "h0"),
    sizes={
        "d_in": lambda given: given["W_xh"].shape[0],
        "d_hidden": lambda given: given["W_xh"].shape[1],
    },
    size_names={
        "d_in": ("input_size", "input_dim", "d_model"),
        "d_hidden": ("hidden_size", *_STATE),
    },
    held={
        "W_xh": Held(_OF_INPUT),
        "W_hh": Held(_OF_STATE),
        "b": Held(("b_h", "bias_ih", *_biases("W_xh", *_OF_INPUT))),
    },
)
"""`RNN(d_in, d_hidden)(X, h0)`: rnn_forward(X, h0, W_xh, W_hh, b)."""

LSTM = ModuleForm(
    call=("x", "h", "c"),
    sizes={
        "d_in": lambda given: given["W"].shape[0],
        "d_hidden": lambda given: given["U"].shape[0],
    },
    size_names={
        "d_in": ("input_size", "input_dim", "d_model"),
        "d_hidden": ("hidden_size", *_STATE),
    },
    held={
        "W": Held(_OF_INPUT),
        "U": Held(_OF_STATE),
        "b": Held(("bias_ih", *_biases("W", *_OF_INPUT))),
    },
)
"""`LSTMStep(d_in, d_hidden)(x, h, c)`: lstm_step(x, h, c, W, U, b)."""

GRU = ModuleForm(
    call=("x", "h"),
    sizes={
        "d_in": lambda given: given["Wz"].shape[0],
        "d_hidden": lambda given: given["Uz"].shape[0],
    },
    size_names=LSTM.size_names,
    held={
        f"{letter}{gate}": Held((f"W{gate}.bias",) if letter == "b" else ())
        for gate in "zrn"
        for letter in "WUb"
    },
)
"""`GRUStep(d_in, d_hidden)(x, h)`: gru_step(x, h, Wz, Uz, bz, …)."""
