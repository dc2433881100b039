"""The NumPy engine: every operation beside its gradient."""

from clearformer.engines.numpy.activations import dropout, gelu, silu, squared_relu
from clearformer.engines.numpy.adamw import adamw
from clearformer.engines.numpy.arrays import empty, from_array, to_array
from clearformer.engines.numpy.attention import attention
from clearformer.engines.numpy.decoding import decode
from clearformer.engines.numpy.learner import Learner
from clearformer.engines.numpy.linear import embed, linear, matmul
from clearformer.engines.numpy.loss import cross_entropy
from clearformer.engines.numpy.norms import layer_norm, rms_norm
from clearformer.engines.numpy.rotate import rotate
from clearformer.engines.numpy.shapes import merge_heads, repeat_heads, split_heads, transpose
from clearformer.engines.numpy.softmax import mask_scores, softmax
from clearformer.engines.tape import add, multiply

__all__ = [
    "Learner",
    "adamw",
    "add",
    "attention",
    "cross_entropy",
    "decode",
    "dropout",
    "embed",
    "empty",
    "from_array",
    "gelu",
    "layer_norm",
    "linear",
    "mask_scores",
    "matmul",
    "merge_heads",
    "multiply",
    "repeat_heads",
    "rms_norm",
    "rotate",
    "silu",
    "softmax",
    "split_heads",
    "squared_relu",
    "to_array",
    "transpose",
]
