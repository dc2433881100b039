"""Engines: the same closed list of operations, once in NumPy, once in PyTorch."""
