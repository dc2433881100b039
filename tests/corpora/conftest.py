"""Whole texts are prepared; the shapes of arrays are checked where reading and ids are tested."""

from runs.conftest import unchecked_shapes  # noqa: F401
