"""Models that read a source and write a target."""
