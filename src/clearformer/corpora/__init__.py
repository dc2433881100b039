"""Corpora larger than memory: a text made once into a folder of ids, and opened to train on."""
