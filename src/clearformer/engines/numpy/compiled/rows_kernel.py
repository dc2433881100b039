"""Work on rows of float32 in one pass, where NumPy makes one pass for each operation."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.compiled.kernel import kernel, piece


@kernel("training")
def norm(x: Any, gain: Any, epsilon: float, inverse: Any, y: Any) -> None:
    """y = gain x / r and 1 / r with r = √(mean(x²) + ε), row by row; see `engines.numpy.norms`."""
    rows, size = x.shape
    for n in range(rows):
        total = np.float32(0)
        for j in range(size):
            total += x[n, j] * x[n, j]
        factor = np.float32(1 / np.sqrt(total / np.float32(size) + np.float32(epsilon)))
        inverse[n] = factor
        for j in range(size):
            y[n, j] = x[n, j] * factor * gain[j]


@kernel("training")
def norm_back(x: Any, gain: Any, inverse: Any, grad: Any, back: Any, to_gain: Any) -> None:
    """dL/dx into `back`, dL/dgain added to `to_gain`."""
    rows, size = x.shape
    for n in range(rows):
        factor, overlap = inverse[n], np.float32(0)
        for j in range(size):
            overlap += grad[n, j] * gain[j] * x[n, j]
        overlap *= factor * factor / np.float32(size)
        for j in range(size):
            back[n, j] = factor * (grad[n, j] * gain[j] - overlap * x[n, j])
            to_gain[j] += grad[n, j] * x[n, j] * factor


@kernel("training")
def squared_relu(x: Any, y: Any) -> None:
    """y = max(x, 0)²."""
    for n in range(len(x)):
        positive = _positive_part(x[n])
        y[n] = positive * positive


@kernel("training")
def squared_relu_back(x: Any, grad: Any, back: Any) -> None:
    """2 g max(x, 0)."""
    for n in range(len(x)):
        back[n] = np.float32(2) * grad[n] * _positive_part(x[n])


@piece
def _positive_part(x: Any) -> Any:
    """max(x, 0); what is no number stays none."""
    return np.float32(0) if x <= 0 else x


@kernel("training")
def unit_turned(x: Any, turn: Any, epsilon: float, inverse: Any, y: Any) -> None:
    """Heads (batch, seq, head, width) divided by r and turned by (seq, width) cosines and sines."""
    batch, seq, heads, width = x.shape
    for b in range(batch):
        for t in range(seq):
            for h in range(heads):
                total = np.float32(0)
                for j in range(width):
                    total += x[b, t, h, j] * x[b, t, h, j]
                factor = np.float32(1 / np.sqrt(total / np.float32(width) + np.float32(epsilon)))
                inverse[b, t, h] = factor
                for j in range(width // 2):
                    c, s = turn[t, 2 * j], turn[t, 2 * j + 1]
                    one, two = x[b, t, h, 2 * j] * factor, x[b, t, h, 2 * j + 1] * factor
                    y[b, t, h, 2 * j] = one * c - two * s
                    y[b, t, h, 2 * j + 1] = one * s + two * c


@kernel("training")
def unit_turned_back(y: Any, turn: Any, inverse: Any, grad: Any, back: Any) -> None:
    """The gradient of the norm, then turned back."""
    batch, seq, heads, width = y.shape
    for b in range(batch):
        for t in range(seq):
            for h in range(heads):
                factor, overlap = inverse[b, t, h], np.float32(0)
                for j in range(width):
                    overlap += grad[b, t, h, j] * y[b, t, h, j]
                overlap /= np.float32(width)
                for j in range(width // 2):
                    c, s = turn[t, 2 * j], turn[t, 2 * j + 1]
                    one = factor * (grad[b, t, h, 2 * j] - overlap * y[b, t, h, 2 * j])
                    two = factor * (grad[b, t, h, 2 * j + 1] - overlap * y[b, t, h, 2 * j + 1])
                    back[b, t, h, 2 * j] = one * c + two * s
                    back[b, t, h, 2 * j + 1] = two * c - one * s
