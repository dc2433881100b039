"""Generation: from next-token probabilities to text."""
