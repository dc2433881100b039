"""Kernels that numba compiles: the same numbers as the plain NumPy beside them, in less time.

They come with the extra `fast` and are never needed. `choice` says whether they are there and worth
their start; it knows nothing of numba. The other modules of this folder import numba and are only
imported once that has said yes. See docs/decisions/0013.
"""
