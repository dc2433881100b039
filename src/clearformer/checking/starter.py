"""The file that a learner starts from, and the exercise as a page to read."""

import re
from collections.abc import Iterator
from shlex import quote

from clearformer.checking.exercise import Exercise
from clearformer.checking.words import Words
from clearformer.explanation.lines import JOINT, cell_width, wrapped

WIDTH = 78
"""Columns of what is read, in a file and on a terminal."""
SHORT = 20
"""Columns of a last line that looks forlorn."""

FORMULA = re.compile(
    r"(?:: )?\([^() ]+(?:, [^() ]+)*\)"  # the axes of a shape
    r"|\[[^\[\] ]+(?:, [^\[\] ]+)*\]"  # the places of a number
    r"| [=<>≤≥←·+−/@-] "
    r"| (?=W_|Kᵀ)"
    r"|(?<=\d) (?=[ぁ-んァ-ヶ一-龥])"  # a number and what it counts
)
"""Where a space is no place to end a line."""

HOLE = Words("write this function", "この関数を書いてください")
VERIFY = Words("Judge it with:\n  {line}", "判定するには:\n  {line}")
START = Words("Begin with:\n  {line}", "書き始めるには:\n  {line}")


def starter(exercise: Exercise, language: str = "en") -> str:
    """A Python file with the task and the empty function."""
    task = "\n".join(_task(exercise, language)).replace("\\", "\\\\")
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
    says = dict.fromkeys(each.says.to(language) for each in exercise.variants)
    also = [line for each in says for line in _set_in(f"~ {each}")]
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
            *_task(exercise, language),
            "",
            f"  def {exercise.signature}",
            *(["", accepted, *also] if also else []),
            "",
            start,
            judge,
        ]
    )


def _task(exercise: Exercise, language: str) -> Iterator[str]:
    for paragraph in exercise.task.to(language).splitlines():
        yield from _even(FORMULA.sub(_held, paragraph), WIDTH)


def _even(text: str, width: int) -> list[str]:
    """`text` in lines; a little narrower where the last one would hold a word or two."""
    lines = list(wrapped(text, width))
    for narrower in range(width - 1, width - SHORT, -1):
        if len(lines) == 1 or cell_width(lines[-1]) >= SHORT:
            break
        tried = list(wrapped(text, narrower))
        lines = tried if len(tried) == len(lines) else lines
    return lines


def _held(found: re.Match[str]) -> str:
    """A short piece of a formula that no line should part."""
    return found[0].replace(" ", JOINT)


def _set_in(text: str) -> Iterator[str]:
    first, *rest = _even(text, WIDTH - 4)
    yield f"  {first}"
    yield from (f"    {line}" for line in rest)
