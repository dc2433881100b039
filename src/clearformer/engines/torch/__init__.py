"""The PyTorch engine: the same operations, by PyTorch's own fused ones and its gradients."""

from clearformer.engines.torch.activations import (
    dropout,
    gelu,
    sigmoid,
    silu,
    squared_relu,
    tanh,
)
from clearformer.engines.torch.adamw import adamw
from clearformer.engines.torch.arithmetic import add, multiply
from clearformer.engines.torch.arrays import empty, from_array, to_array
from clearformer.engines.torch.attention import attention
from clearformer.engines.torch.compiling import obstacle
from clearformer.engines.torch.devices import device_of, is_here, memory_of, moved
from clearformer.engines.torch.height import height_of
from clearformer.engines.torch.learner import Learner
from clearformer.engines.torch.linear import embed, linear, linear_pair, matmul
from clearformer.engines.torch.loss import cross_entropy, logistic_loss
from clearformer.engines.torch.norms import layer_norm, rms_norm
from clearformer.engines.torch.orthogonalise import orthogonalise
from clearformer.engines.torch.recurrent import gru, lstm, rnn
from clearformer.engines.torch.rotate import rotate, rotate_unit
from clearformer.engines.torch.settling import settle
from clearformer.engines.torch.shapes import (
    merge_heads,
    part_heads,
    repeat_heads,
    reshape,
    shift,
    split_heads,
    transpose,
)
from clearformer.engines.torch.softmax import mask_scores, softmax

__all__ = [
    "Learner",
    "adamw",
    "add",
    "attention",
    "cross_entropy",
    "device_of",
    "dropout",
    "embed",
    "empty",
    "from_array",
    "gelu",
    "gru",
    "height_of",
    "is_here",
    "layer_norm",
    "linear",
    "linear_pair",
    "logistic_loss",
    "lstm",
    "mask_scores",
    "matmul",
    "memory_of",
    "merge_heads",
    "moved",
    "multiply",
    "obstacle",
    "orthogonalise",
    "part_heads",
    "repeat_heads",
    "reshape",
    "rms_norm",
    "rnn",
    "rotate",
    "rotate_unit",
    "settle",
    "shift",
    "sigmoid",
    "silu",
    "softmax",
    "split_heads",
    "squared_relu",
    "tanh",
    "to_array",
    "transpose",
]
