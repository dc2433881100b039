"""Places for the labels of points, so that none covers another."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi, sin
from unicodedata import east_asian_width

import numpy as np

from clearformer.tensor import Bool, Float

FONT = 15.0
"""Height of the letters; all sizes here are pixels of a picture that is not made larger."""

NARROW, WIDE, HIGH = 0.58, 1.0, 1.25
"""Width of a letter and of a full-width character, and height of a line, times the font."""

CLEAR = 7.0
"""Between a point and its label."""

RINGS = (0.0, 9.0, 18.0)
"""How much further out the places around a point are."""

GRID = 8.0
"""Between the places that are tried where none around a point is free."""

ANGLES = tuple(turn * pi / 8 for turn in (0, 8, 12, 4, 14, 2, 10, 6, 15, 1, 9, 7, 13, 3, 11, 5))
"""To the right first, then left, above, below, and between."""


AT_ONCE = 512
"""Places that are looked at together."""


@dataclass(frozen=True)
class Label:
    """Where the middle of a label is, and whether a line must lead to its point."""

    x: float
    y: float
    led: bool


def size_of(text: str) -> tuple[float, float]:
    """Width and height of a label, estimated: the font is the reader's."""
    letters = sum(WIDE if east_asian_width(c) in "WF" else NARROW for c in text)
    return letters * FONT, HIGH * FONT


def placed(
    points: Float[np.ndarray, "words two"], texts: tuple[str, ...], width: float, height: float
) -> list[Label]:
    """A place for each label; the first ones choose first.

    It is the first around its point, or else the nearest anywhere, that is inside the picture and
    touches no label before it, nor any point but its own.
    """
    sizes = np.array([size_of(text) for text in texts])
    middles = np.zeros((len(texts), 2))
    found: list[Label] = []
    for number, point in enumerate(points):
        others = np.concatenate([middles[:number], np.delete(points, number, axis=0)])
        room = np.concatenate([sizes[:number], np.zeros((len(points) - 1, 2))]) + sizes[number]
        around = True
        for places in _tried(point, sizes[number], (width, height)):
            free = _inside(places, sizes[number], (width, height)) & _clear(places, others, room)
            if free.any():
                break
            around = False
        place = int(free.argmax())  # of a picture that is full any, which covers another
        middles[number] = places[place]
        led = not around or place >= len(ANGLES)
        found.append(Label(float(places[place, 0]), float(places[place, 1]), led))
    return found


def _tried(
    point: Float[np.ndarray, " two"],
    size: Float[np.ndarray, " two"],
    picture: tuple[float, float],
) -> Iterator[Float[np.ndarray, "places two"]]:
    """Middles of labels of a size, the nearest to a point first, some at a time."""
    yield _around(point, size)
    places = _anywhere(point, size, picture)
    for start in range(0, len(places), AT_ONCE):
        yield places[start : start + AT_ONCE]


def _around(
    point: Float[np.ndarray, " two"], size: Float[np.ndarray, " two"]
) -> Float[np.ndarray, "places two"]:
    """Middles of labels of a size on rings around a point, the innermost first."""
    turns = np.array([(cos(angle), -sin(angle)) for angle in ANGLES])
    away = CLEAR + np.array(RINGS)
    return np.asarray(point + (turns * (size / 2 + away[:, None, None])).reshape(-1, 2))


def _anywhere(
    point: Float[np.ndarray, " two"],
    size: Float[np.ndarray, " two"],
    picture: tuple[float, float],
) -> Float[np.ndarray, "places two"]:
    """Middles of labels of a size all over the picture, the nearest to a point first."""
    across = np.arange(size[0] / 2, max(picture[0] - size[0] / 2, size[0]), GRID)
    down = np.arange(size[1] / 2, max(picture[1] - size[1] / 2, size[1]), GRID)
    places = np.stack(np.meshgrid(across, down), -1).reshape(-1, 2)
    order = ((places - point) ** 2).sum(1).argsort(kind="stable")
    return np.asarray(places[order])


def _inside(
    places: Float[np.ndarray, "places two"],
    size: Float[np.ndarray, " two"],
    picture: tuple[float, float],
) -> Bool[np.ndarray, " places"]:
    return np.asarray(((places >= size / 2) & (places <= np.array(picture) - size / 2)).all(1))


def _clear(
    places: Float[np.ndarray, "places two"],
    others: Float[np.ndarray, "others two"],
    room: Float[np.ndarray, "others two"],
) -> Bool[np.ndarray, " places"]:
    """Whether each place is apart from all others, across or down, by half of both sizes."""
    nearest, furthest = places.min(0) - room / 2, places.max(0) + room / 2
    met = ((others > nearest) & (others < furthest)).all(1)
    others, room = others[met], room[met]
    apart = np.abs(places[:, None] - others) >= room / 2
    return np.asarray(apart.any(2).all(1))
