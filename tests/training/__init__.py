"""Tests of training: the loop, its parts, and what it leaves on disk."""
