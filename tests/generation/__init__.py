"""Proofs of generation; a package, so that a second process can import `generation.runs`."""
