"""Names the mistake in a learner's own version of a step."""
