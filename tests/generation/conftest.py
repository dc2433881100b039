"""Calls as a user makes them, as in the tests of models."""

from models.conftest import unchecked

__all__ = ["unchecked"]
