"""Comparing kinds of model on equal terms."""
