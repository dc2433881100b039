"""Training: the loop, its optimizers and schedules, and the folder a run lives in."""
