"""The NumPy engine: every operation beside its gradient."""

from clearformer.engines.numpy.activations import (
    dropout,
    gelu,
    sigmoid,
    silu,
    squared_relu,
    tanh,
)
from clearformer.engines.numpy.adamw import adamw
from clearformer.engines.numpy.arrays import empty, from_array, to_array
from clearformer.engines.numpy.attention import attention
from clearformer.engines.numpy.compiled.choice import is_compiled
from clearformer.engines.numpy.decoding import decoder, plain_seconds
from clearformer.engines.numpy.gru import gru
from clearformer.engines.numpy.height import height_of
from clearformer.engines.numpy.learner import Learner
from clearformer.engines.numpy.linear import embed, linear, linear_pair, matmul
from clearformer.engines.numpy.loss import cross_entropy, logistic_loss
from clearformer.engines.numpy.lstm import lstm
from clearformer.engines.numpy.norms import layer_norm, rms_norm
from clearformer.engines.numpy.orthogonalise import orthogonalise
from clearformer.engines.numpy.rnn import rnn
from clearformer.engines.numpy.rotate import rotate, rotate_unit
from clearformer.engines.numpy.shapes import (
    merge_heads,
    part_heads,
    repeat_heads,
    reshape,
    shift,
    split_heads,
    transpose,
)
from clearformer.engines.numpy.softmax import mask_scores, softmax
from clearformer.engines.tape import add, multiply

__all__ = [
    "Learner",
    "adamw",
    "add",
    "attention",
    "cross_entropy",
    "decoder",
    "dropout",
    "embed",
    "empty",
    "from_array",
    "gelu",
    "gru",
    "height_of",
    "is_compiled",
    "layer_norm",
    "linear",
    "linear_pair",
    "logistic_loss",
    "lstm",
    "mask_scores",
    "matmul",
    "merge_heads",
    "multiply",
    "orthogonalise",
    "part_heads",
    "plain_seconds",
    "repeat_heads",
    "reshape",
    "rms_norm",
    "rnn",
    "rotate",
    "rotate_unit",
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
