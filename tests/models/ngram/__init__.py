"""Laws of the n-gram model."""
