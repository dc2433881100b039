"""Runs: what training leaves on disk, and what can be done with it."""
