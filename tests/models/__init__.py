"""Proofs of the models; a package, so that other tests can import `models.decoders`."""
