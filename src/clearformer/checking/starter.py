"""The file that a learner starts from, and the exercise as a page to read."""

from shlex import quote

from clearformer.checking.exercise import Exercise
from clearformer.checking.words import Words

HOLE = Words("write this function", "この関数を書いてください")
VERIFY = Words("Judge it with:  {line}", "判定するには:  {line}")
START = Words("Begin with:  {line}", "書き始めるには:  {line}")


def starter(exercise: Exercise, language: str = "en") -> str:
    """A Python file with the task and the empty function."""
    task = exercise.task.to(language).replace("\\", "\\\\")
    return (
        f'"""{exercise.title.to(language)}\n\n{task}\n"""\n\n'
        "import numpy as np\n\n\n"
        f"def {exercise.signature}:\n"
        f'    raise NotImplementedError("{HOLE.to(language)}")\n'
    )


def page(exercise: Exercise, language: str = "en", called: str | None = None) -> str:
    """The task, the signature, other accepted conventions, and what to type next.

    `called` is how a person names it: a teacher's own exercise by its file.
    """
    title = f"{exercise.name}   {exercise.title.to(language)}"
    also = list(dict.fromkeys(f"  ~ {each.says.to(language)}" for each in exercise.variants))
    accepted = Words("Also right:", "次も正解です:").to(language)
    by_name = called in (None, exercise.name)
    line = f"clearformer check {quote(called or exercise.name)}"
    file = f"{exercise.name}.py" if by_name else "answer.py"
    start = START.to(language).format(line=f"{line} --start {file}")
    judge = VERIFY.to(language).format(line=f"{line} {file}")
    return "\n".join(
        [
            title,
            "",
            *exercise.task.to(language).splitlines(),
            "",
            f"  def {exercise.signature}",
            *(["", accepted, *also] if also else []),
            "",
            start,
            judge,
        ]
    )
