"""What a value is, in few words: "a list", "a torch.Tensor", "nothing (None)"."""

from typing import Any

import numpy as np

from clearformer.checking.running.arrays import is_tensor
from clearformer.checking.words import Words

LONGEST = 60
"""Characters that are kept of the name of a type."""

_KNOWN = {
    "NoneType": Words("nothing (None)", "None (何も返していません)"),
    "str": Words("a text", "文字列"),
    "int": Words("a whole number", "整数"),
    "float": Words("a number", "数"),
    "function": Words("a function", "関数"),
    "list": Words("a list", "リスト"),
    "tuple": Words("a tuple", "タプル"),
    "dict": Words("a dict", "辞書"),
    "ndarray": Words("a numpy.ndarray", "numpy.ndarray"),
    "generator": Words("a generator", "ジェネレータ"),
    "coroutine": Words("a coroutine", "コルーチン"),
    "type": Words("a class", "クラス"),
}


def described(value: Any) -> Words:
    """The kind of `value`, never its content."""
    if is_tensor(value):
        return Words("a torch.Tensor", "torch.Tensor")
    if isinstance(value, np.ndarray):
        return _KNOWN["ndarray"]
    name = "type" if isinstance(value, type) else type(value).__name__[:LONGEST]
    article = "an" if name[0].lower() in "aeiou" else "a"
    return _KNOWN.get(name) or Words(f"{article} {name}", name)


def expected(came: Words, wanted: str) -> Words:
    """The two side by side: "a list, expected h, c"."""
    return Words(f"{came.en}, expected {wanted}", f"{came.ja} (必要なもの: {wanted})")
