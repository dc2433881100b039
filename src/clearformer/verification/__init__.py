"""Verification: every operation, a whole model and a training step, held against a reference."""
