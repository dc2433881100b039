"""Tests of the measured reasons."""
