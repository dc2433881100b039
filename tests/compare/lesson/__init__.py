"""Tests of the lesson."""
