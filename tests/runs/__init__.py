"""Tests of runs: trained, loaded, resumed, damaged."""
