"""The map of words as one self-contained SVG file: points, and labels that do not overlap."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.tensor import Float
from clearformer.training.durable import in_one_line, replace_file
from clearformer.words.labels import FONT, Label, placed, size_of
from clearformer.words.vectors import WordVectors
from clearformer.words.vocabulary import folded

WIDTH, LOWEST = 1200.0, 800.0
"""Pixels; the picture is higher where the labels need it."""

MARGIN = 50.0

ROOM = 6.0
"""Times the area of all labels that the picture has."""

MOST_WORDS = 1_000

STYLE = f"""
    svg {{ background: #ffffff; }}
    text {{ font: {FONT:g}px system-ui, "Hiragino Sans", "Noto Sans CJK JP", sans-serif;
      fill: #1b1b1b; text-anchor: middle; dominant-baseline: central; }}
    circle {{ fill: #2266bb; }}
    line {{ stroke: #9db4cc; stroke-width: 1; }}
    @media (prefers-color-scheme: dark) {{
      svg {{ background: #16191d; }} text {{ fill: #e8e8e8; }}
      circle {{ fill: #7db3f0; }} line {{ stroke: #4a5b6d; }}
    }}
"""


def write_picture(vectors: WordVectors, path: Path, words: Sequence[str]) -> None:
    """Writes the map of some words. Raises as `WordVectors.picture`."""
    chosen = tuple(dict.fromkeys(map(folded, words)))
    content = drawn(vectors, chosen).encode("utf-8")
    with in_one_line("write", path, len(content)):
        replace_file(path, content)


def drawn(vectors: WordVectors, words: tuple[str, ...]) -> str:
    """The text of the picture.

    Raises:
        ConfigurationError: a word has no vector, or there are too few or too many.
    """
    if len(words) > MOST_WORDS:
        raise ConfigurationError(f"a map shows at most {MOST_WORDS:,} words; got {len(words):,}")
    coordinates = vectors.map(words)
    area = sum(width * height for width, height in map(size_of, words))
    height = max(LOWEST, ROOM * area / WIDTH)
    points = _in_picture(coordinates, height)
    labels = placed(points, words, WIDTH, height)
    counts = vectors.vocabulary.counts
    marks = [
        _mark(word, int(counts[vectors.vocabulary.id_of(word)]), point, label)
        for word, point, label in zip(words, points, labels, strict=True)
    ]
    title = f"{len(words)} words of {len(vectors):,} on the plane that shows the most of them"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:.0f}" '
            'role="img">',
            f"  <title>{title}</title>",
            f"  <style>{STYLE}  </style>",
            *marks,
            "</svg>\n",
        )
    )


def _in_picture(
    coordinates: Float[np.ndarray, "words two"], height: float
) -> Float[np.ndarray, "words two"]:
    """Both axes stretched so that the points fill the picture."""
    lowest = coordinates.min(0)
    spread = coordinates.max(0) - lowest
    shares = (coordinates - lowest) / np.where(spread == 0, 1, spread)
    size = np.array([WIDTH, height]) - 2 * MARGIN
    return np.asarray(MARGIN + np.stack([shares[:, 0], 1 - shares[:, 1]], 1) * size)


def _mark(word: str, count: int, point: Float[np.ndarray, " two"], label: Label) -> str:
    x, y = map(float, point)
    line = _line(x, y, label, size_of(word)) if label.led else ""
    return (
        f'  <g><title>{escape(word)}: {count:,} times</title>{line}<circle cx="{x:.1f}" '
        f'cy="{y:.1f}" r="3"/><text x="{label.x:.1f}" y="{label.y:.1f}">{escape(word)}</text></g>'
    )


def _line(x: float, y: float, label: Label, size: tuple[float, float]) -> str:
    """From a point to the edge of its label."""
    across, down = label.x - x, label.y - y
    inside = min(size[0] / 2 / max(abs(across), 1e-9), size[1] / 2 / max(abs(down), 1e-9))
    share = max(0.0, 1 - inside)
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + share * across:.1f}" '
        f'y2="{y + share * down:.1f}"/>'
    )
