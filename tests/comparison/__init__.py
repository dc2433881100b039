"""Laws of comparing kinds of model."""
