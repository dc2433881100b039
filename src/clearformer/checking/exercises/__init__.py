"""One file is one exercise: the task, the right way in steps, and the mistakes that are known."""
