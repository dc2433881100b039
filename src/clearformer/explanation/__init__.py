"""Explaining: every intermediate of one sentence, what if it were different, and all of it as text."""
