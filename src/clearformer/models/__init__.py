"""Models, as frozen dataclasses of tensors; each layer in a file of its own."""
