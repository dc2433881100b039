"""Tests of several processes that train one model: what they compute, and how they end."""
