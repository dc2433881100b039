"""The encoder: a model that sees both sides of a blank."""
