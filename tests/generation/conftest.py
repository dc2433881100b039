"""PyTorch, and calls as a user makes them, as in the tests of models."""

from models.conftest import torch, unchecked

__all__ = ["torch", "unchecked"]
