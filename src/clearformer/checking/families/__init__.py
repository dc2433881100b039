"""Mistakes that belong to more than one exercise, each told once."""
