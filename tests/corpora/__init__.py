"""Proofs of preparing texts; a package, so that its tests share `corpora.small`."""
