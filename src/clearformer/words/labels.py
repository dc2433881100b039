"""Places for the labels of points, so that none covers another."""

from dataclasses import dataclass
from math import cos, pi, sin
from unicodedata import east_asian_width

import numpy as np

from clearformer.tensor import Float

FONT = 15.0
"""Height of the letters; all sizes here are pixels of a picture that is not made larger."""

NARROW, WIDE, HIGH = 0.58, 1.0, 1.25
"""Width of a letter and of a full-width character, and height of a line, times the font."""

CLEAR = 7.0
"""Between a point and its label."""

RING = 9.0
"""How much further out the next try is."""

ANGLES = tuple(turn * pi / 8 for turn in (0, 8, 12, 4, 14, 2, 10, 6, 15, 1, 9, 7, 13, 3, 11, 5))
"""To the right first, then left, above, below, and between."""

MOST_RINGS = 400


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
    """A place for each label, the first ones nearest to their points.

    Tries places around the point, further and further out, and takes the first that is inside the
    picture and touches no label before it, nor any point but its own.
    """
    boxes = np.zeros((len(texts), 4))  # left, top, right, bottom
    found: list[Label] = []
    for number, (point, text) in enumerate(zip(points, texts, strict=True)):
        others = np.delete(points, number, axis=0)
        label, box = _free_place(point, size_of(text), boxes[:number], others, (width, height))
        boxes[number] = box
        found.append(label)
    return found


def _free_place(
    point: Float[np.ndarray, " two"],
    size: tuple[float, float],
    boxes: Float[np.ndarray, "placed four"],
    others: Float[np.ndarray, "others two"],
    picture: tuple[float, float],
) -> tuple[Label, tuple[float, float, float, float]]:
    wide, high = size[0] / 2, size[1] / 2
    label, box = Label(float(point[0]), float(point[1]), True), (0.0, 0.0, 0.0, 0.0)
    for ring in range(MOST_RINGS):
        away = CLEAR + ring * RING
        for angle in ANGLES:
            x = float(point[0]) + cos(angle) * (wide + away)
            y = float(point[1]) - sin(angle) * (high + away)
            box = (x - wide, y - high, x + wide, y + high)
            if not (box[0] >= 0 <= box[1] and box[2] <= picture[0] and box[3] <= picture[1]):
                continue
            label = Label(x, y, ring > 0)
            if not (_meets_box(box, boxes) or _holds_point(box, others)):
                return label, box
    return label, box  # the picture is full; a label that covers another is still told


def _meets_box(
    box: tuple[float, float, float, float], boxes: Float[np.ndarray, "placed four"]
) -> bool:
    left, top, right, bottom = boxes.T
    return bool(((left < box[2]) & (right > box[0]) & (top < box[3]) & (bottom > box[1])).any())


def _holds_point(
    box: tuple[float, float, float, float], points: Float[np.ndarray, "others two"]
) -> bool:
    x, y = points.T
    return bool(((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])).any())
