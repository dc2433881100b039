"""A gradient that the library derives by hand, and the same by moving one number a little.

It prints:

    dL/dx by the library       …
    dL/dx by moving x a little …
    equal to six places: True
"""

from typing import Any

import numpy as np

import clearformer as cf

rng = np.random.default_rng(0)
query, key, value = rng.standard_normal((3, 4, 8))  # three tables of 4 positions × 8 numbers


target = rng.standard_normal((4, 8))


def loss(query: Any, key: Any, value: Any) -> Any:
    """Any function of tensors that is written with the library's operations; it is summed up."""
    return cf.attention(query, key, value, causal=True) * target


_, (to_query, _, _) = cf.value_and_gradients(loss, query, key, value)

step = 1e-5
moved = query.copy()
moved[2, 3] += step
above = loss(moved, key, value).sum()
moved[2, 3] -= 2 * step
below = loss(moved, key, value).sum()
measured = (above - below) / (2 * step)

print(f"dL/dx by the library       {to_query[2, 3]:.6f}")
print(f"dL/dx by moving x a little {measured:.6f}")
print("equal to six places:", bool(abs(to_query[2, 3] - measured) < 1e-6))
