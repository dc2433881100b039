"""Proofs of reading, tokenizers and batches; a package, so that its tests share `text.samples`."""
