"""The quickest power for a softmax, to which one base is as good as another."""

from functools import cache
from math import e, log2
from typing import NamedTuple

import numpy as np


class Power(NamedTuple):
    """function(x · per_nat) = exp(x)."""

    function: np.ufunc
    per_nat: float


@cache
def quickest_power() -> Power:
    """2^x where NumPy has vector instructions for it, and takes half as long as for exp; else exp.

    That is so with AVX-512. It depends on the processor alone, so that bits are the same again.
    """
    try:
        from numpy.lib.introspect import opt_func_info
    except ImportError:  # NumPy 2.0
        return Power(np.exp, 1.0)
    ways = opt_func_info(func_name="^exp2$", signature="float32").get("exp2", {})
    current = [way["current"] for way in ways.values()]
    if not current or current[0].startswith("baseline"):
        return Power(np.exp, 1.0)
    return Power(np.exp2, log2(e))
