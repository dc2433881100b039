"""Words as vectors: skip-gram with negative sampling, trained on a text of one's own."""
