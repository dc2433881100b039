"""Explaining: every intermediate of one sentence, as arrays, as JSON and as text."""
