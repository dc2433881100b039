"""Laws of models that read a source and write a target."""
