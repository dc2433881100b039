"""Small exercises of a teacher, to try answers on."""

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.module_form import Held, ModuleForm
from clearformer.checking.probe import Probe, normal, whole
from clearformer.checking.words import Words

NOTHING = Words("", "")
WEIGHTS = ("W_Q", "W_K", "W_V", "W_O")


def softmax(S):
    share = np.exp(S - S.max(-1, keepdims=True))
    return share / share.sum(-1, keepdims=True)


def attention(step, X, W_Q, W_K, W_V, masked=True):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if masked:
        S = np.where(np.tri(S.shape[-1], dtype=bool), S, -np.inf)
    return softmax(S) @ V


def attention_probe(name, n, masked=True):
    return Probe(
        name,
        {
            "X": normal(n, n, 7),
            "W_Q": normal(n + 1, 7, 3, scale=0.4),
            "W_K": normal(n + 2, 7, 3, scale=0.4),
            "W_V": normal(n + 3, 7, 4),
            "masked": masked,
        },
    )


def exercise(name, right, probes, **more):
    return Exercise(name, NOTHING, NOTHING, right, {}, lambda: probes, [], **more)


ATTENTION = exercise(
    "self_attention",
    attention,
    [
        attention_probe("5 tokens", 5),
        attention_probe("4 tokens", 4),
        attention_probe("not masked", 6, masked=False),
    ],
    batched=("X",),
    synonyms={"masked": ("mask", "causal")},
    module=ModuleForm(
        call=("X",),
        sizes={
            "d_in": lambda given: given["W_Q"].shape[0],
            "d_k": lambda given: given["W_Q"].shape[1],
            "d_v": lambda given: given["W_V"].shape[1],
        },
        size_names={"d_in": ("d_model", "n_embd"), "d_k": ("head_size",)},
        held={
            "W_Q": Held(("query", "q_proj", "q")),
            "W_K": Held(("key", "k_proj", "k")),
            "W_V": Held(("value", "v_proj", "v")),
        },
        fused={"qkv": ("W_Q", "W_K", "W_V"), "c_attn": ("W_Q", "W_K", "W_V")},
    ),
)


def norm(step, x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


NORM = exercise(
    "layer_norm",
    norm,
    [
        Probe("4 columns", {"x": normal(1, 3, 4), "gamma": normal(2, 4), "beta": normal(3, 4)}),
        Probe(
            "large eps",
            {"x": normal(4, 5, 6), "gamma": normal(5, 6), "beta": normal(6, 6), "eps": 0.1},
        ),
    ],
    batched=("x",),
    module=ModuleForm(
        call=("x",),
        sizes={"d": lambda given: given["x"].shape[-1]},
        size_names={"d": ("d_model", "features", "dim")},
        held={
            "gamma": Held(("weight", "scale", "g")),
            "beta": Held(("bias", "shift", "b")),
        },
    ),
)


def cache_step(step, x, cache, W):
    K = np.concatenate([cache["K"], x @ W])
    return K.sum(0, keepdims=True), {"K": K}


CACHE = exercise(
    "cache_step",
    cache_step,
    [
        Probe(
            "3 before",
            {"x": normal(1, 1, 5), "cache": {"K": normal(2, 3, 4)}, "W": normal(3, 5, 4)},
        )
    ],
    returns=("out", "cache"),
    may_change=("cache",),
)


def clip(step, grads, max_norm):
    total = np.sqrt(sum((grad**2).sum() for grad in grads))
    return [grad * min(1, max_norm / total) for grad in grads]


CLIP = exercise(
    "clip_gradients",
    clip,
    [Probe("two", {"grads": [normal(1, 3, 4), normal(2, 5)], "max_norm": 1.0})],
    returns=("grads",),
)


def mean_loss(step, logits, targets):
    share = softmax(logits)
    return -np.log(np.take_along_axis(share, targets[..., None], -1)).mean()


LOSS = exercise(
    "cross_entropy",
    mean_loss,
    [Probe("5 of 7", {"logits": normal(1, 5, 7), "targets": whole(2, 7, 5)})],
)


def double(step, x):
    return 2 * x


DOUBLE = exercise(
    "double",
    double,
    [Probe(f"{n} numbers", {"x": normal(n, n, 3)}) for n in (4, 5, 6)],
    batched=("x",),
)


def many_heads(step, X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    parts = [np.split(W, n_heads, -1) for W in (W_Q, W_K, W_V)]
    heads = [attention(step, X, *each, masked) for each in zip(*parts, strict=True)]
    return np.concatenate(heads, -1) @ W_O


HEADS = exercise(
    "multi_head_attention",
    many_heads,
    [
        Probe(
            f"{n_heads} heads",
            {
                "X": normal(n_heads, 5, 12),
                **{name: normal(seed, 12, 12, scale=0.4) for seed, name in enumerate(WEIGHTS)},
                "n_heads": n_heads,
            },
        )
        for n_heads in (3, 4)
    ],
    batched=("X",),
    synonyms={"masked": ("causal",)},
    module=ModuleForm(
        call=("X",),
        sizes={
            "d_model": lambda given: given["X"].shape[-1],
            "n_heads": lambda given: given["n_heads"],
            "n_tokens": lambda given: given["X"].shape[-2],
        },
        size_names={"d_model": ("n_embd",), "n_heads": ("n_head",), "n_tokens": ("block_size",)},
        held={
            "W_Q": Held(("query", "q_proj")),
            "W_K": Held(("key", "k_proj")),
            "W_V": Held(("value", "v_proj")),
            "W_O": Held(("proj", "c_proj", "out_proj")),
        },
        fused={"c_attn": WEIGHTS[:3], "in_proj_weight": WEIGHTS[:3]},
    ),
)


def feed_forward(step, x, W_1, b_1, W_2, b_2):
    return np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2


FEED = exercise(
    "feed_forward",
    feed_forward,
    [
        Probe(
            "5 to 20",
            {
                "x": normal(1, 3, 5),
                "W_1": normal(2, 5, 20),
                "b_1": normal(3, 20),
                "W_2": normal(4, 20, 5),
                "b_2": normal(5, 5),
            },
        )
    ],
    batched=("x",),
    module=ModuleForm(
        call=("x",),
        sizes={"d_model": lambda given: given["x"].shape[-1]},
        held={"W_1": Held(), "b_1": Held(), "W_2": Held(), "b_2": Held()},
    ),
)


def look_up(step, ids, E):
    return E[ids]


LOOK_UP = exercise(
    "embedding",
    look_up,
    [Probe("4 of 7", {"ids": whole(1, 7, 4), "E": normal(2, 7, 3)})],
    batched=("ids",),
    module=ModuleForm(
        call=("ids",),
        sizes={
            "n_vocabulary": lambda given: given["E"].shape[0],
            "d_model": lambda given: given["E"].shape[1],
        },
        held={"E": Held()},
    ),
)
