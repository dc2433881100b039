"""Laws of the verification: what is right agrees, and what is wrong is found and named."""
