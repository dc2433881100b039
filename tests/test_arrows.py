"""Which part of the library may know which: arrows point one way."""

import ast
from pathlib import Path

import pytest

import clearformer as cf

ROOT = Path(cf.__file__).parent

MAY_KNOW = {
    "errors": set(),
    "version": set(),
    "tensor": set(),
    "engines": {"errors"},
    "ops": {"engines", "tensor"},
    "text": {"errors", "tensor"},
    "models": {"engines", "errors", "ops", "tensor"},
    "generation": {"engines", "errors", "models", "ops", "tensor"},
    "training": {"engines", "errors", "models", "ops", "tensor", "text"},
    "tasks": {"errors", "tensor"},
    "comparison": {
        "engines", "errors", "explanation", "generation", "models", "ops", "runs", "tasks",
        "tensor", "text", "training", "version",
    },
    "corpora": {"engines", "errors", "text", "training"},
    "runs": {
        "corpora", "engines", "errors", "explanation", "generation", "models", "tasks", "text",
        "training", "version",
    },
    "verification": {"engines", "errors", "models", "ops", "tensor", "text", "training"},
    "explanation": {"engines", "errors", "models", "ops", "runs", "tensor", "text", "training"},
    "words": {
        "corpora", "engines", "errors", "models", "ops", "runs", "tensor", "text", "training",
    },
    "checking": {"errors", "explanation", "tensor", "version"},
    "benchmarking": {
        "engines", "errors", "generation", "models", "ops", "runs", "text", "training", "version",
    },
}  # fmt: skip
"""`runs` and `explanation` know each other, inside functions: `run.explain`, `explain(run=…)`."""

OF_ENGINES = {
    "ops": {"dispatch", "polar"},
    "models": {"bounds", "dispatch", "mask"},
    "training": {"copied", "dispatch", "kernels", "polar", "ranks", "shared"},
    "explanation": {"dispatch"},
    "generation": {"dispatch", "plan"},
    "verification": {"choose", "dispatch", "execution", "polar", "tape"},
    "corpora": {"signals", "threads"},
    "words": {"choose", "dispatch", "execution", "tape", "threads"},
    "comparison": {"choose", "dispatch", "execution", "kernels", "ranks", "tape", "threads"},
    "runs": {"choose", "execution", "kernels", "ranks", "shared", "threads"},
    "benchmarking": {
        "choose",
        "dispatch",
        "execution",
        "kernels",
        "memory",
        "signals",
        "tape",
        "threads",
    },
}
"""What the parts above use of `engines`: none of it is an engine."""


def imports(part: str) -> set[str]:
    """The modules of the library that the files of a part import, also inside functions."""
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else (ROOT / part).rglob("*.py")
    found: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "clearformer":
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                name = node.module.removeprefix("clearformer.")
                if name != node.module:
                    found |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("part", MAY_KNOW)
def test_a_part_knows_only_what_lies_below_it(part):
    known = {name.split(".")[0] for name in imports(part)} - {part}
    assert known <= MAY_KNOW[part]


@pytest.mark.parametrize("part", sorted(MAY_KNOW.keys() - {"engines"}))
def test_no_part_names_an_engine(part):
    used = {name.split(".")[1] for name in imports(part) if name.startswith("engines.")}
    assert used <= OF_ENGINES.get(part, set())


def test_every_part_has_a_place():
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__init__", "__main__", "__pycache__", "cli"} == set(MAY_KNOW)


@pytest.mark.parametrize("part", MAY_KNOW)
def test_only_the_command_line_prints(part):
    files = [ROOT / f"{part}.py"] if (ROOT / f"{part}.py").exists() else (ROOT / part).rglob("*.py")
    for file in files:
        calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8")))
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
        assert "print" not in {call.func.id for call in calls}, file
