"""Recurrent language models: one state goes along the sequence and is all that is remembered."""
