"""What `import clearformer` offers: complete, sorted, importable, and free until it is used."""

import ast
import inspect
import json
import sys
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

import clearformer as cf
from documents import run_python

HEAVY = {"numba",
    "beartype", "click", "hypothesis", "jaxtyping", "rich", "safetensors", "threadpoolctl",
    "tokenizers", "torch",
}  # fmt: skip
"""Packages that no module of the library loads when it is imported."""

LOADING = (
    "clearformer.cli", "clearformer.__main__", "clearformer.engines.torch",
    "clearformer.benchmarking.peer_torch", "clearformer.benchmarking.peer_transformers",
    *(
        f"clearformer.engines.numpy.compiled.{n}"
        for n in ("atomics", "attention", "decoding", "kernel", "lstm", "rows", "tiles")
    ),
)  # fmt: skip
"""But for these: the command line loads what it shows with, an engine, a peer or kernels itself."""

SMALL_LIST = {"clearformer", "clearformer.version"}
"""All that `import clearformer` may load beyond the standard library."""


def loaded_by(statement: str, folder: Path) -> set[str]:
    """The modules that a fresh Python has loaded after `statement`, which must print nothing."""
    done = run_python(
        ["-c", f"{statement}\nimport sys, json\nprint(json.dumps([*sys.modules]))"], folder
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("["), f"importing printed {done.stdout}"
    return set(json.loads(done.stdout))


def without_standard_library(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] not in sys.stdlib_module_names}


def library_modules() -> list[str]:
    """Every module but those that are there to load something."""
    files = Path(cf.__file__).parent.rglob("*.py")
    paths = [file.relative_to(Path(cf.__file__).parents[1]).with_suffix("") for file in files]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    return [name for name in names if not name.startswith(LOADING)]


def test_public_names_are_sorted_and_complete():
    offered = [name for name in cf.__all__ if name != "__version__"]
    assert cf.__all__ == sorted(cf.__all__)
    assert offered == list(cf._HOMES) == sorted(cf._HOMES)
    assert dir(cf) == cf.__all__


def test_what_type_checkers_see_is_what_is_loaded():
    tree = ast.parse((Path(cf.__file__)).read_text("utf-8"))
    seen = {
        alias.name: node.module.removeprefix("clearformer.")
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen == cf._HOMES


@pytest.mark.parametrize("name", cf.__all__)
def test_every_public_name_can_be_imported_and_is_described(name):
    found = getattr(cf, name)
    if name != "__version__":
        assert inspect.getdoc(found)
        assert getattr(import_module(f"clearformer.{cf._HOMES[name]}"), name) is found


def test_loading_a_submodule_hides_no_public_name():
    for name in library_modules():
        import_module(name)
    modules = [name for name in cf.__all__ if inspect.ismodule(getattr(cf, name))]
    assert modules == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'atention'"):
        getattr(cf, "atention")  # noqa: B009  # a type checker would object to cf.atention


def test_importing_the_package_loads_nothing_else(tmp_path):
    before = loaded_by("", tmp_path)
    after = loaded_by("import clearformer", tmp_path)
    assert without_standard_library(after - before) == SMALL_LIST


def test_importing_any_module_loads_nothing_heavy_and_prints_nothing(tmp_path):
    statement = "\n".join(f"import {name}" for name in library_modules())
    packages = {name.split(".")[0] for name in loaded_by(statement, tmp_path)}
    assert packages & HEAVY == set()


def test_using_every_public_name_loads_numpy_and_nothing_heavy(tmp_path):
    names = [name for name in cf.__all__ if not name.endswith("Display")]  # of the command line
    statement = f"import clearformer as cf\nfor name in {names!r}: getattr(cf, name)"
    packages = {name.split(".")[0] for name in loaded_by(statement, tmp_path)}
    assert "numpy" in packages
    assert packages & HEAVY == set()


def test_numpy_arrays_go_through_attention_without_anything_heavy(tmp_path):
    statement = (
        "import clearformer as cf, numpy as np\n"
        "cf.self_attention(np.eye(3), np.eye(3), np.eye(3), np.eye(3), causal=True)"
    )
    packages = {name.split(".")[0] for name in loaded_by(statement, tmp_path)}
    assert packages & HEAVY == set()


def parameters(function) -> str:
    """The names and defaults of a function, as in a signature without types."""
    signature = inspect.signature(function)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(inspect.Signature(plain))


CONTRACT = {
    "self_attention": "(X, W_Q, W_K, W_V, causal=False)",
    "attention": (
        "(query, key, value, *, mask=None, causal=False, scale=None, return_weights=False)"
    ),
    "softmax": "(x, axis=-1)",
    "cross_entropy": "(logits, targets, ignore=-100)",
    "perplexity": "(logits, targets, ignore=-100)",
    "sample": "(logits, *, temperature=1.0, top_k=None, top_p=None, rng=None)",
    "load": "(path, *, engine='numpy', device=None)",
}
"""Signatures that outside programs rely on (adding to them is free, at the end)."""


@pytest.mark.parametrize("name", CONTRACT)
def test_signatures_outside_programs_rely_on(name):
    assert parameters(getattr(cf, name)) == CONTRACT[name]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("sinusoidal_positions", ["length", "embed"]),
        ("train", ["text"]),
        ("explain", ["sentence"]),
        ("Run.generate", ["self", "prompt"]),
        ("Run.evaluate", ["self", "text"]),
        ("Run.explain", ["self", "sentence"]),
    ],
)
def test_first_parameters_outside_programs_rely_on(name, first):
    names = list(inspect.signature(attrgetter(name)(cf)).parameters)
    assert names[: len(first)] == first


def test_a_trace_can_be_read_and_edited():
    trace = cf.explain("I like small models")
    scores = trace["blocks.0.attention.scores"]
    assert len(scores.axes) == scores.ndim
    assert callable(trace.what_if)


def test_the_version_is_that_of_the_command(tmp_path):
    done = run_python(["-m", "clearformer", "--version"], tmp_path)
    assert done.stdout.split() == ["clearformer", cf.__version__]
