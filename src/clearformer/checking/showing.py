"""The smallest failing input as lines of Python, to paste and try."""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise
from clearformer.checking.words import Words

GOT = Words("# yours:", "# あなたの結果:")
EXPECTED = Words("# expected:", "# 正しい結果:")


def pasteable(
    exercise: Exercise, case: Case, language: str, *, function: str, library: str = "numpy"
) -> str:
    """Python that makes the arguments and calls the function, with both results as comments."""
    head = "import numpy as np\n" if library == "numpy" else "import torch\n"
    arguments = "\n".join(
        f"{name} = {_written(value, library)}" for name, value in case.probe.arguments.items()
    )
    required = {each.name for each in exercise.parameters if each.default is each.empty}
    call = ", ".join(
        name if name in required else f"{name}={name}" for name in case.probe.arguments
    )
    return (
        f"{head}{arguments}\nprint({function}({call}))\n"
        f"{_results(GOT, case.mine, language)}\n{_results(EXPECTED, case.right, language)}"
    )


def _written(value: Any, library: str) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{key!r}: {_written(each, library)}" for key, each in value.items())
        return f"{{{members}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_written(each, library) for each in value)}]"
    if isinstance(value, np.ndarray):
        maker = "np.array" if library == "numpy" else "torch.tensor"
        infinite = "np.inf" if library == "numpy" else "torch.inf"
        numbers = np.array2string(value, separator=", ", threshold=10_000, floatmode="maxprec")
        numbers = numbers.replace("inf", infinite).replace("\n", "\n    ")
        shape = "" if value.size else f".reshape{value.shape}"
        return f"{maker}({numbers}){shape}"
    return repr(value)


def _results(label: Words, values: Any, language: str) -> str:
    lines = [label.to(language)]
    for name, value in values.items():
        shown = np.array2string(np.asarray(value), precision=4, suppress_small=True)
        lines += [f"#   {name} = {shown.splitlines()[0]}"]
        lines += [f"#     {line}" for line in shown.splitlines()[1:]]
    return "\n".join(lines)
