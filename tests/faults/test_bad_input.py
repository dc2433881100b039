"""Laws of files that cannot be trusted: refused in one line, status 2, and nothing is run."""

import hashlib
import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import clearformer as cf
from faults.disk import Disk
from faults.tiny import DIALS, TEXT, files_in

ENDINGS = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".PT", ".Bin")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run with one save, and its text."""
    folder = tmp_path_factory.mktemp("original")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    cf.train(folder / "tiny.txt", out=folder / "run", **DIALS)
    return folder / "run"


@pytest.fixture
def run(tmp_path, original):
    """A copy of it, to be tampered with."""
    return Path(shutil.copytree(original, tmp_path / "run"))


def save_of(run):
    (save,) = (run / "checkpoints").iterdir()
    return save


COMMANDS = {
    "generate": lambda run: ["generate", run, "--tokens", "3"],
    "evaluate": lambda run: ["evaluate", run],
    "explain": lambda run: ["explain", "the cat", "--run", run],
    "resume": lambda run: ["train", "--resume", "--out", run, "--steps", "30"],
}

every_way = pytest.mark.parametrize(
    "words", [COMMANDS["generate"], COMMANDS["resume"]], ids=["generate", "resume"]
)
"""The two ways in which a save is read: the model alone, and everything."""

every_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


def sign(save, **changes):
    """Makes the manifest agree with the files again, as one who lies would; then alters it."""
    manifest = json.loads((save / "manifest.json").read_text("utf-8"))
    for name, entry in manifest["files"].items():
        if (save / name).is_file():
            content = (save / name).read_bytes()
            entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (save / "manifest.json").write_text(json.dumps(manifest | changes), "utf-8")


# Pickles.


class Trap:
    """What a pickle can do to who reads it."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self):
        return os.mkdir, (str(self.proof),)


@pytest.fixture
def trap(tmp_path):
    """The bytes of a pickle that leaves a trace when it is read."""
    proof = tmp_path / "somebody-ran-it"
    yield pickle.dumps(Trap(proof))
    assert not proof.exists()


def require_advice(command, words, path):
    """Refused with what to do, and not opened except under the name of a safe file."""
    with Disk(path.parent) as disk:
        line = command(*words).refusal()
    opened = [call for call in disk.calls if call == f"open {path.name}"]
    assert not opened or path.suffix == ".safetensors"
    assert f"{path} looks like a pickle" in line
    assert "can run code" in line
    assert "weights_only=True" in line
    assert "save_file" in line
    assert f"{path.with_suffix('.safetensors')}" in line


@every_command
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pickle_in_place_of_a_run_is_refused_unopened(command, tmp_path, trap, words, ending):
    path = tmp_path / f"model{ending}"
    path.write_bytes(trap)
    require_advice(command, words(path), path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_pickle_is_not_a_place_for_a_run(command, tmp_path, trap, ending):
    (tmp_path / "tiny.txt").write_text(TEXT, "utf-8")
    path = tmp_path / f"model{ending}"
    path.write_bytes(trap)
    require_advice(command, ["train", tmp_path / "tiny.txt", "--out", path], path)
    assert path.read_bytes() == trap


@every_command
def test_a_folder_with_a_pickle_and_no_run_is_refused_with_the_same_advice(
    command, tmp_path, trap, words
):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}", "utf-8")
    (tmp_path / "model" / "pytorch_model.bin").write_bytes(trap)
    require_advice(command, words(tmp_path / "model"), tmp_path / "model" / "pytorch_model.bin")


@every_command
@pytest.mark.parametrize("ending", [".pt", ".bin", ".ckpt"])
@pytest.mark.parametrize("signed", [False, True], ids=["as it was", "signed"])
def test_a_pickle_in_a_save_is_refused_unopened(command, run, trap, words, ending, signed):
    save = save_of(run)
    (save / "model.safetensors").unlink()
    (save / f"model{ending}").write_bytes(trap)
    if signed:
        files = json.loads((save / "manifest.json").read_text("utf-8"))["files"]
        files[f"model{ending}"] = files.pop("model.safetensors")
        sign(save, files=files)
        assert f"it names 'model{ending}'" in command(*words(run)).refusal()
    else:
        require_advice(command, words(run), save / f"model{ending}")


@every_command
@pytest.mark.parametrize("kind", ["bare", "as PyTorch writes it"])
def test_a_pickle_under_the_name_of_a_safe_file_is_refused_unopened(
    command, run, trap, words, kind
):
    save = save_of(run)
    content = trap if kind == "bare" else b"PK\x03\x04\0\0\x08\x08" + trap
    (save / "model.safetensors").write_bytes(content)
    sign(save)
    require_advice(command, words(run), save / "model.safetensors")


MAKE = """
import sys, torch
shared = torch.arange(6.0).reshape(2, 3)
torch.save({"a": shared, "b": shared.T, "tied": shared}, sys.argv[1])
"""


def test_the_conversion_that_is_advised_works(command, tmp_path):
    if not find_spec("torch"):
        pytest.skip("without PyTorch there is nothing to convert with")
    from safetensors.numpy import load_file

    path = tmp_path / "my model.pt"
    path.write_bytes(b"what it holds is not looked at")
    advice = command("generate", path).refusal().partition("with: ")[2]
    python, flag, program, *names = shlex.split(advice)
    assert (python, flag, names[0]) == ("python", "-c", str(path))
    subprocess.run([sys.executable, "-c", MAKE + program, *names], check=True)
    numbers = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    made = load_file(tmp_path / "my model.safetensors")
    assert {name: array.tolist() for name, array in made.items()} == {
        "a": numbers, "b": np.transpose(numbers).tolist(), "tied": numbers,
    }  # fmt: skip


# Saves that lie.


def test_no_command_minds_a_run_that_was_only_copied(command, run):
    for words in COMMANDS.values():
        assert command(*words(run)).status == 0


NAMES = (
    *("../model.safetensors", "/etc/passwd", "a/b", "..", ".", "", "model.safetensors/"),
    *("C:model.safetensors", "model.safetensors:stream", "..\\model.safetensors", "a\\b"),
    *("model.safetensors\0", "model.safetensors ", "MODEL.SAFETENSORS", "manifest.json"),
    *("model-00001-of-00002.safetensors", "con", "\u202emodel.safetensors", "x" * 5000),
)


@every_way
@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("how", ["instead", "as well"])
def test_a_manifest_names_the_files_of_a_save_and_no_others(command, run, words, name, how):
    before = files_in(run.parent)
    save = save_of(run)
    manifest = json.loads((save / "manifest.json").read_text("utf-8"))
    entry = manifest["files"]["model.safetensors"]
    if how == "instead":
        del manifest["files"]["model.safetensors"]
    manifest["files"][name] = entry
    (save / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert "manifest.json is damaged: it names " in command(*words(run)).refusal()
    assert {*files_in(run.parent)} == {*before}


LIES = {
    "of a newer format": ({"format": 2}, "has format 2, this clearformer reads up to 1; upgrade"),
    "of no format": ({"format": 0}, "is damaged: expected format 1"),
    "of a format in words": ({"format": "1"}, "is damaged: expected format 1"),
    "of another step": ({"step": 7}, "its manifest is of step 7"),
    "of a step that is none": ({"step": -1}, "is damaged"),
    "of a true step": ({"step": True}, "is damaged"),
    "with more keys": ({"extra": 1}, "is damaged"),
    "without files": ({"files": {}}, "is damaged"),
    "with a list of files": ({"files": ["model.safetensors"]}, "is damaged"),
}


@every_way
@pytest.mark.parametrize("lie", LIES)
def test_a_manifest_that_contradicts_itself_is_refused(command, run, words, lie):
    changes, expected = LIES[lie]
    sign(save_of(run), **changes)
    assert expected in command(*words(run)).refusal()


@every_way
@pytest.mark.parametrize(
    "entry",
    [
        {"bytes": 0},
        {"bytes": 10**30},
        {"bytes": -1},
        {"bytes": 1.5},
        {"bytes": None},
        {"sha256": "0" * 64},
        {"sha256": ""},
        {"sha256": None},
        {"path": "../elsewhere"},
    ],
    ids=str,
)
def test_a_manifest_that_lies_about_a_file_is_refused(command, run, words, entry):
    save = save_of(run)
    files = json.loads((save / "manifest.json").read_text("utf-8"))["files"]
    files["model.safetensors"] |= entry
    sign_only = json.loads((save / "manifest.json").read_text("utf-8")) | {"files": files}
    (save / "manifest.json").write_text(json.dumps(sign_only), "utf-8")
    assert "is damaged" in command(*words(run)).refusal()


def tensors_of(save, change):
    """Alters the header of the weights; what it says of sizes may be made to fit or not."""
    raw = (save / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    header, length, body = change(header, raw[8 + length :])
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    size = len(text) if length is None else length
    (save / "model.safetensors").write_bytes(size.to_bytes(8, "little") + text + body)
    sign(save)


def first(header, **changes):
    name = min(header)
    return header | {name: header[name] | changes}


HEADERS = {
    "longer than the file": lambda h, b: (h, 10**9, b),
    "of the largest length there is": lambda h, b: (h, 2**64 - 1, b),
    "of length zero": lambda h, b: (h, 0, b),
    "no JSON": lambda h, b: (b"{" * 500, None, b),
    "deep": lambda h, b: (b'{"a":' * 30_000 + b"1" + b"}" * 30_000, None, b),
    "with a name twice": lambda h, b: (b'{"a": 1, "a": 1}', None, b),
    "with a tensor beyond the file": lambda h, b: (
        first(h, shape=[10**6], data_offsets=[0, 4 * 10**6]), None, b),
    "with a product that overflows": lambda h, b: (
        first(h, shape=[4194305, 4194305, 211106198978564], data_offsets=[0, 16]), None, b),
    "with a negative shape": lambda h, b: (first(h, shape=[-1]), None, b),
    "with overlapping tensors": lambda h, b: (
        h | {"zzz": h[min(h)]}, None, b),
    "with bytes that belong to none": lambda h, b: (h, None, b + bytes(4)),
    "with too few bytes": lambda h, b: (h, None, b[:-4]),
    "with an unknown type": lambda h, b: (first(h, dtype="Q99"), None, b),
    "with a name that is a path": lambda h, b: (
        {("../" + name if name == min(h) else name): entry for name, entry in h.items()}, None, b),
    "with a name that is absolute": lambda h, b: (
        {("/tmp/x" if name == min(h) else name): entry for name, entry in h.items()}, None, b),
    "with one tensor left out": lambda h, b: (
        {name: entry for name, entry in h.items() if name != max(h)}, None, b),
}  # fmt: skip


@every_way
@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_that_cannot_be_true_is_refused_before_the_library_sees_it(
    command, run, words, kind
):
    before = set(files_in(run.parent))
    tensors_of(save_of(run), HEADERS[kind])
    assert "step-000024" in command(*words(run)).refusal()
    assert set(files_in(run.parent)) == before


# A save, a tokenizer and a configuration that do not belong together.


@pytest.fixture
def other(tmp_path):
    """A run on another text, with another shape."""
    return cf.train(TEXT.upper(), out=tmp_path / "other", **(DIALS | {"embed": 16})).path


@every_command
def test_the_save_of_another_shape_is_refused(command, run, other, words):
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(other / "checkpoints", run / "checkpoints")
    assert "is a save of another model than run.json describes" in command(*words(run)).refusal()


@pytest.fixture
def twin(tmp_path):
    """A run of the same shape, on a text with as many different characters, but others."""
    return cf.train(TEXT.replace("c", "z"), out=tmp_path / "twin", **DIALS).path


@every_command
def test_the_save_of_another_tokenizer_is_refused_though_all_shapes_agree(
    command, run, twin, words
):
    shutil.rmtree(run / "checkpoints")
    shutil.copytree(twin / "checkpoints", run / "checkpoints")
    assert "was made with another tokenizer" in command(*words(run)).refusal()


@every_command
def test_a_save_from_before_tokenizers_were_told_is_still_read(command, run, words):
    state = json.loads((save_of(run) / "state.json").read_text("utf-8"))
    del state["tokenizer"]
    (save_of(run) / "state.json").write_text(json.dumps(state), "utf-8")
    sign(save_of(run))
    assert command(*words(run)).status == 0


@every_command
def test_weights_of_another_shape_under_the_right_name_are_refused(command, run, words):
    from safetensors.numpy import load_file, save_file

    save = save_of(run)
    arrays = load_file(save / "model.safetensors")
    name = max(arrays, key=lambda name: arrays[name].size)
    arrays[name] = np.ascontiguousarray(arrays[name].T)
    save_file(arrays, save / "model.safetensors")
    sign(save)
    assert "step-000024 does not hold the" in command(*words(run)).refusal()


@every_command
def test_the_tokenizer_of_another_run_is_refused(command, run, other, words):
    shutil.copy(other / "tokenizer.json", run / "tokenizer.json")
    line = command(*words(run)).refusal()
    assert "is not the tokenizer this run was trained with" in line


@every_command
@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("tokenizer.json", {"version": 2}, "expected version 1, got 2"),
        ("tokenizer.json", {"kind": "../../evil"}, "its kind must be one of"),
        ("tokenizer.json", {"path": "/etc/passwd"}, "not a usable tokenizer"),
        ("run.json", {"format": 2}, "has format 2, this clearformer reads up to 1; upgrade it"),
        ("run.json", {"kind": "perceptron"}, "of kind 'perceptron'"),
    ],
    ids=str,
)
def test_a_file_of_another_version_is_refused(command, run, words, name, change, expected):
    document = json.loads((run / name).read_text("utf-8"))
    (run / name).write_text(json.dumps(document | change), "utf-8")
    assert expected in command(*words(run)).refusal()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
@pytest.mark.parametrize("name", ["run.json", "manifest.json", "model.safetensors", "state.json"])
def test_what_is_no_ordinary_file_is_refused_and_not_waited_for(command, run, name):
    path = run / name if name == "run.json" else save_of(run) / name
    path.unlink()
    os.mkfifo(path)
    assert str(run) in command("generate", run).refusal()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
@every_way
@pytest.mark.parametrize("name", ["tokenizer.json", "log.jsonl", "samples.txt"])
def test_a_pipe_in_a_run_is_never_waited_for(command, run, words, name):
    (run / name).unlink()
    os.mkfifo(run / name)
    if words is COMMANDS["generate"] and name != "tokenizer.json":
        assert command(*words(run)).status == 0  # which needs only the other files
    else:
        line = command(*words(run)).refusal()
        assert f"{run / name}" in line
        assert "pipe or a device" in line


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
@pytest.mark.parametrize("name", ["tokenizer.json", "log.jsonl", "samples.txt"])
def test_a_file_without_an_end_is_not_read(command, run, name):
    (run / name).unlink()
    (run / name).symlink_to("/dev/zero")
    assert "pipe or a device" in command(*COMMANDS["resume"](run)).refusal()
