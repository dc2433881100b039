"""Laws of damaged and tampered runs: refused in one line, at once, and left as they are."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError, Interrupted, RunError
from clearformer.training import loop
from clearformer.training.checkpoint import load_latest, save_checkpoint
from runs.tiny import DIALS, TEXT, StopAt, change_configuration, files_in, refused


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run that was stopped after step 5 of 7."""
    folder = tmp_path_factory.mktemp("original")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    with pytest.raises(Interrupted):
        cf.train(
            folder / "tiny.txt", out=folder / "run", reporter=StopAt(5), **(DIALS | {"steps": 7})
        )
    return folder / "run"


@pytest.fixture
def run(tmp_path, original):
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(original, tmp_path / "run"))


def resume(path):
    return cf.train(out=path, resume=True)


BOTH = pytest.mark.parametrize("use", [cf.load, resume], ids=["load", "resume"])

GROUPS = {
    "": ["model", "training", "workers", "engine", "start_token", "tokenizer", "corpus"],
    "tokenizer": ["fingerprint"],
    "training": ["steps", "batch", "accumulation", "learning_rate", "clip", "seed", "warm_up"],
    "corpus": ["sources", "files", "fingerprint", "encoding"],
    "model": ["vocabulary", "layers", "heads", "embed", "context", "dropout", "recipe", "norm"],
}
PLACES = [(group, key) for group, keys in GROUPS.items() for key in keys]

SIZES = ["vocabulary", "layers", "heads", "embed", "context"]


def inside(document, group):
    return document[group] if group else document


@BOTH
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff", b'{"format": 1}', b"1"])
def test_a_file_that_is_no_configuration_is_refused(run, use, content):
    (run / "run.json").write_bytes(content)
    refused(RunError, use, run)


@BOTH
@pytest.mark.parametrize("version", [0, -1, None, "1", 2, 1.0, True])
def test_another_format_is_refused(run, use, version):
    change_configuration(run, lambda document: document.update(format=version))
    refused(RunError, use, run)


@pytest.mark.parametrize("key", GROUPS[""])
def test_to_go_on_a_run_needs_every_key(run, key):
    change_configuration(run, lambda document: document.pop(key))
    before = files_in(run)
    refused(RunError, resume, run)
    assert files_in(run) == before


@pytest.mark.parametrize("key", ["model", "tokenizer"])
def test_to_load_it_model_and_tokenizer_are_needed(run, key):
    change_configuration(run, lambda document: document.pop(key))
    refused(RunError, cf.load, run)


@BOTH
@pytest.mark.parametrize("key", SIZES)
def test_a_missing_size_is_refused_and_never_guessed(run, use, key):
    """With another number of heads, or another context, it would be another model."""
    change_configuration(run, lambda document: document["model"].pop(key))
    refused(RunError, use, run)


@BOTH
@pytest.mark.parametrize(
    "change",
    [
        {"layers": 2},
        {"norm": "layer"},
        {"heads": 1, "key_value_heads": 1},
        {"activation": "gelu"},
        {"positions": "sinusoidal"},
        {"query_key_norm": False},
    ],
    ids=str,
)
def test_another_model_than_was_trained_is_refused(run, use, change):
    """Also where the weights have the same shapes, so that only the numbers would be wrong."""
    change_configuration(run, lambda document: document["model"].update(change))
    refused(RunError, use, run)


@BOTH
@pytest.mark.parametrize("group, key", PLACES)
def test_a_value_of_the_wrong_type_is_refused_or_harmless(
    tmp_path, monkeypatch, original, use, group, key
):
    monkeypatch.setattr(loop, "STEPS", 7)  # what is trained for where nothing is said
    for number, value in enumerate([None, [], {}, "x", -1, 0, 1.5, True, [[[]]]]):
        run = Path(shutil.copytree(original, tmp_path / str(number)))
        change_configuration(
            run, lambda document, v=value: inside(document, group).update({key: v})
        )
        try:
            use(run)
        except ClearformerError as error:
            assert "\n" not in str(error)
        except Exception as error:
            pytest.fail(f"{group} {key}={value!r}: {error!r}")


ABSURD = """
import json, resource, signal, sys
from pathlib import Path
import clearformer as cf
from clearformer.errors import ClearformerError

use, run, cases = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
original = (run / "run.json").read_text()

def too_slow(*_):
    raise TimeoutError("took more than 2 seconds")

signal.signal(signal.SIGALRM, too_slow)
cf.load(run)
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
for group, key, number in cases:
    document = json.loads(original)
    (document[group] if group else document)[key] = number
    if key == "accumulation":
        document["training"]["batch"] = number
    (run / "run.json").write_text(json.dumps(document))
    signal.alarm(2)
    try:
        cf.load(run) if use == "load" else cf.train(out=run, resume=True)
        outcome = "accepted"
    except ClearformerError as error:
        outcome = "refused" if "\\n" not in str(error) else "refused in several lines"
    except BaseException as error:
        outcome = repr(error)[:200]
    signal.alarm(0)
    if outcome != "refused":
        print(f"{group} {key}={number}: {outcome}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize("use", ["load", "resume"])
def test_absurd_numbers_are_refused_before_anything_is_allocated(run, use):
    """In a process of its own with little memory and time, for what would happen otherwise."""
    places = [("model", key) for key in (*SIZES, "hidden", "key_value_heads")]
    places.append(("", "start_token"))
    if use == "resume":
        places += [("", "workers"), ("training", "batch"), ("training", "accumulation")]
    cases = [(*place, number) for place in places for number in (10**9, 2**53)]
    done = subprocess.run(
        [sys.executable, "-c", ABSURD, use, str(run), json.dumps(cases)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout, done.stdout


@BOTH
def test_the_tokenizer_of_another_run_is_refused(tmp_path, run, use):
    other = cf.train(TEXT.replace("c", "w"), out=tmp_path / "other", **DIALS)
    shutil.copy(other.path / "tokenizer.json", run / "tokenizer.json")
    assert "is not the tokenizer this run was trained with" in refused(RunError, use, run)


@BOTH
@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"\xff\xfe", b'{"format": NaN}'])
def test_a_damaged_tokenizer_is_refused(run, use, content):
    (run / "tokenizer.json").unlink()
    if content is not None:
        (run / "tokenizer.json").write_bytes(content)
    message = refused(ClearformerError, use, run)
    assert "tokenizer.json" in message


@BOTH
@pytest.mark.parametrize(
    "dials", [{"layers": 2}, {"embed": 16}, {"hidden": 8}, {"recipe": "classic"}]
)
def test_the_weights_of_another_model_are_refused(tmp_path, run, use, dials):
    other = cf.train(TEXT, out=tmp_path / "other", **(DIALS | dials))
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(other.path / "checkpoints", run / "checkpoints")
    message = refused(RunError, use, run)
    assert "step-000012" in message


@BOTH
@pytest.mark.parametrize("fault", ["missing", "more", "renamed", "transposed", "dtype"])
def test_weights_that_do_not_fit_are_refused(run, use, fault):
    saved = load_latest(run / "checkpoints")
    model = dict(saved.model)
    name = "blocks.0.feed_forward.expand.weight"
    if fault == "missing":
        del model[name]
    elif fault == "more":
        model["another"] = np.zeros(3, np.float32)
    elif fault == "renamed":
        model["blocks.0.feed_forward.expand.other"] = model.pop(name)
    elif fault == "transposed":
        model[name] = model[name].T
    else:
        model[name] = model[name].astype(np.int64)
    save_checkpoint(
        run / "checkpoints", 6, model=model, optimizer=saved.optimizer,
        state={**saved.state, "step": 6},
    )  # fmt: skip
    refused(RunError, use, run)


@BOTH
def test_weights_that_are_not_finite_are_refused(run, use):
    """Only a program other than this one can have saved them."""
    saved = load_latest(run / "checkpoints")
    saved.model["embedding.table"][0, 0] = np.nan
    save_checkpoint(
        run / "checkpoints", 6, model=saved.model, optimizer=saved.optimizer,
        state={**saved.state, "step": 6},
    )  # fmt: skip
    refused(ClearformerError, use, run)


def test_a_damaged_newest_save_is_passed_over_with_a_word(run):
    saved = load_latest(run / "checkpoints")
    save_checkpoint(
        run / "checkpoints", 6, model=saved.model, optimizer=saved.optimizer, state=saved.state
    )
    file = run / "checkpoints" / "step-000006" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.warns(UserWarning, match="step-000006 was passed over"):
        assert cf.load(run).step == 5


def test_a_run_without_any_save_is_refused(run):
    shutil.rmtree(run / "checkpoints")
    assert "nothing was saved yet" in refused(RunError, cf.load, run)


@pytest.mark.parametrize("name", ["none", "a-file", "a-folder", "a\0b", "x" * 5000])
def test_what_is_no_run_is_refused(tmp_path, name):
    (tmp_path / "a-file").write_text("x")
    (tmp_path / "a-folder").mkdir()
    refused(RunError, cf.load, tmp_path / name)
