"""Every probe of an exercise exactly as an answer of some style is called with it.

To those of the exercise come some made from its first main probe: hard ones (float32, not
contiguous, batched) and, to see what an answer listens to, one per array,
number or flag with only that changed. The same style always gives the same numbers, so that judging
can compute what is right.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe, normal
from clearformer.checking.record import Style
from clearformer.checking.running.arrays import each_array, image, single
from clearformer.checking.words import Words

CHANGED = "changed "
"""What the name of a probe begins with in which only the argument named after it is changed."""

BATCHED = "batched"
"""The name of the probe that is made by a leading axis."""

BATCH = 2
"""Length of the leading axis of a batched call."""


def all_probes(exercise: Exercise, style: Style) -> list[Probe]:
    """The probes as they are called in `style`: main ones first, then stress, then clue.

    The arrays are NumPy's, also for an answer in PyTorch: those of float64 are then rounded to
    what float32 can hold, but stay float64. A batched style gives the arguments named in
    `exercise.batched` a leading axis of 2, with the probe's own content first; a narrow one has
    the arguments that the form as a module gives for fewer sizes.
    """
    given = [narrowed(exercise, probe) if style.narrow else probe for probe in exercise.probes()]
    taken = {probe.name for probe in given}
    plain = [probe for probe in given if probe.role == "main" and not probe.batched]
    made = _made(exercise, plain[0], style) if plain else []
    probes = given + [probe for probe in made if probe.name not in taken]
    if style.batched:
        probes = [each if each.batched else _batched(exercise, each) for each in probes]
    if style.library == "torch":
        probes = [_with(probe, _rounded) for probe in probes]
    return sorted(probes, key=lambda probe: ("main", "stress", "clue").index(probe.role))


def narrowed(exercise: Exercise, probe: Probe) -> Probe:
    """The probe for a module with fewer sizes; the same where the exercise knows none."""
    form = exercise.module
    if form is None or form.narrowed is None:
        return probe
    return replace(probe, arguments={**probe.arguments, **form.narrowed(probe.arguments)})


def _made(exercise: Exercise, base: Probe, style: Style) -> list[Probe]:
    made = []
    if style.library == "numpy" and image(base.arguments) != image(_with(base, single).arguments):
        made.append(_stress(_with(base, single), "float32", "numbers in float32", "float32 の数"))
    made.append(
        _stress(
            _with(base, _transposed_copy),
            "not contiguous",
            "arrays that are views, not contiguous in memory",
            "メモリ上で連続していない配列",
        )
    )
    if exercise.batched and not style.batched:
        made.append(
            _stress(
                _batched(exercise, base),
                BATCHED,
                "a leading batch axis of 2",
                "先頭に長さ 2 のバッチ軸を付けた入力",
            )
        )
    for seed, name in enumerate(_floats(base)):
        changed = {**base.arguments, name: _other(base.arguments[name], seed)}
        made.append(Probe(CHANGED + name, changed, "clue"))
    defaults = {each.name: each.default for each in exercise.parameters}
    for name, default in defaults.items():
        other = _another(base.arguments.get(name, default))
        if other is not None:
            made.append(Probe(CHANGED + name, {**base.arguments, name: other}, "clue"))
    return made


def _another(value: Any) -> bool | float | None:
    """Another value for a flag or a number; None for anything else, and for sizes and counts."""
    if isinstance(value, bool):
        return not value
    return 0.7 * value if isinstance(value, float) and value else None


def _floats(probe: Probe) -> list[str]:
    """Names of the arguments that are arrays of floating-point numbers."""
    return [
        name
        for name, value in probe.arguments.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
    ]


def _stress(probe: Probe, name: str, english: str, japanese: str) -> Probe:
    return replace(probe, name=name, role="stress", says=Words(english, japanese))


def _with(probe: Probe, change: Any) -> Probe:
    return replace(probe, arguments=each_array(probe.arguments, change))


def _rounded(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32).astype(np.float64) if array.dtype == np.float64 else array


def _transposed_copy(array: np.ndarray) -> np.ndarray:
    """The same values laid out the other way round; every second number if there is one axis."""
    if array.ndim == 1:
        return np.repeat(array, 2)[::2]
    return array.T.copy().T


def _batched(exercise: Exercise, probe: Probe) -> Probe:
    arguments = {
        name: each_array(value, _stacked) if name in exercise.batched else value
        for name, value in probe.arguments.items()
    }
    return replace(probe, arguments=arguments)


def _stacked(array: np.ndarray) -> np.ndarray:
    """The array, then the same with its rows moved on: what was true of rows stays true."""
    if array.ndim == 0:
        return np.stack([array] * BATCH)
    return np.stack([np.roll(array, -each, axis=0) for each in range(BATCH)])


def _other(array: np.ndarray, seed: int) -> np.ndarray:
    """Other numbers of the same kind: signs and zeros stay, and rows that sum to 1 still do."""
    noise = normal(1000 + seed, *array.shape)
    if not array.any():
        return (array + 0.5 * noise).astype(array.dtype)
    other = array * np.exp(0.3 * noise)
    if array.ndim and np.all(array >= 0) and np.allclose(array.sum(-1), 1):
        other = other / other.sum(-1, keepdims=True)
    return other.astype(array.dtype)
