"""A random order of any number of things, of which each place can be computed by itself.

A list of the order would take 8 bytes for each of them; this takes none. It is a Feistel network
on pairs of numbers (left, right) with left < a and right < b, where a · b is just at least
`size`: one half is moved by an amount that depends on the other,

    left ← (left + F(key₁, right)) mod a,    right ← (right + F(key₂, left)) mod b,    …

Each such move can be undone, so all of them together map the a · b numbers left · b + right onto
themselves one to one, whatever F is. A number that leaves 0 … size - 1 is mapped again until it
is back (it is, as it goes in a circle), which makes the map one to one on these.

Source: Black and Rogaway 2002, "Ciphers with arbitrary finite domains", generalised Feistel
cipher and cycle walking; F is the mixing of Steele et al. 2014 (SplitMix64).
"""

from math import isqrt
from typing import Any

import numpy as np

ROUNDS = 10
"""Moves of one half. From 8 on, no order of 2 to 64 numbers can be told from a random one by where
its numbers are, or by the steps between neighbours."""

Numbers = np.ndarray[Any, np.dtype[np.uint64]]

_MIX = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)


def random_numbers(count: int, *seed: int) -> Numbers:
    """So many random numbers of 64 bits, the same for the same seed in every version of NumPy."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64).astype(np.uint64)


class Permutation:
    """The numbers 0 … size - 1 in a random order, the same for the same keys."""

    def __init__(self, size: int, keys: Numbers) -> None:
        """`keys`: `ROUNDS` random numbers, one for each move."""
        self._size = size
        self._a = isqrt(max(size - 1, 0)) + 1
        self._b = -(-size // self._a)
        self._keys = keys

    def __len__(self) -> int:
        return self._size

    def at(self, places: np.ndarray) -> np.ndarray:
        """The numbers at some places of the order, each 0 … size - 1, as int64."""
        found = self._moved(places.astype(np.uint64))
        while (outside := found >= self._size).any():
            found[outside] = self._moved(found[outside])
        return found.astype(np.int64)

    def _moved(self, numbers: Numbers) -> Numbers:
        a, b = np.uint64(self._a), np.uint64(self._b)
        left, right = numbers // b, numbers % b
        for number in range(0, ROUNDS, 2):
            left = (left + _mixed(right, self._keys[number]) % a) % a
            right = (right + _mixed(left, self._keys[number + 1]) % b) % b
        return left * b + right


def _mixed(numbers: Numbers, key: Any) -> Numbers:
    mixed = numbers ^ key
    mixed *= _MIX[0]
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX[1]
    mixed ^= mixed >> np.uint64(32)
    return mixed
