"""Laws of recurrent models."""
