"""Tests of what is explained, and how."""
