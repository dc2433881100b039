"""Tasks whose best answer is known, so that how far a model is from it is a number."""

from clearformer.tasks.registry import TASKS, task, tasks
from clearformer.tasks.sequences import as_sequences
from clearformer.tasks.task import IGNORED, PairTask, SequenceTask, Task

__all__ = ["IGNORED", "TASKS", "PairTask", "SequenceTask", "Task", "as_sequences", "task", "tasks"]
