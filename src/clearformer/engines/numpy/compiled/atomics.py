"""Numbers that one thread writes and another waits for, without a lock.

A plain loop over an array would be compiled into one that looks once; these look each time, and
what was written before a `tell` is seen by whoever has seen the number (release and acquire).
"""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

Generated = tuple[Any, Callable[..., Any]]


@intrinsic  # type: ignore[untyped-decorator]
def told(typing: Any, numbers: Any, place: Any) -> Generated:
    """The number at a place of an array (int64), as it is now."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        at = _address(context, builder, signature, given)
        return builder.load_atomic(at, "acquire", 8)

    return types.int64(numbers, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def tell(typing: Any, numbers: Any, place: Any, number: Any) -> Generated:
    """Writes a number (int64) at a place of an array."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        at = _address(context, builder, signature, given)
        builder.store_atomic(given[2], at, "release", 8)
        return context.get_dummy_value()

    return types.void(numbers, types.intp, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def swapped(typing: Any, numbers: Any, place: Any, expected: Any, number: Any) -> Generated:
    """Writes a number where `expected` stands, and says whether it stood there: one thread wins."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        at = _address(context, builder, signature, given)
        found = builder.cmpxchg(at, given[2], given[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(numbers, types.intp, types.int64, types.int64), generate


def _address(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, given[0])
    return builder.gep(array.data, [given[1]])
