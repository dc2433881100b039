"""Proofs of the operations; a package, so that other tests can import `engines.proofs`."""
