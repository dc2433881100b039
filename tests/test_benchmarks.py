"""The benchmarks: a peer computes the same model, and figures are told as they were found."""

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from clearformer import ops
from clearformer.benchmarking import attention, interleave, rows, start
from clearformer.benchmarking.llama_speed import LlamaSetting
from clearformer.benchmarking.peer_c import END, CProgram
from clearformer.benchmarking.report import Report
from clearformer.benchmarking.row import Request
from clearformer.benchmarking.training_step import training_loop
from clearformer.engines.numpy import Learner
from clearformer.errors import ClearformerError
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.products import product_shapes
from clearformer.text.corpus import Corpus
from clearformer.training.next_token import next_token_loss
from clearformer.training.options import TrainingOptions

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"

# relative to the largest number
PRECISION = {"float64": 1e-10, "float32": 1e-4}

both_recipes = pytest.mark.parametrize("recipe", ["modern", "classic"])
both_precisions = pytest.mark.parametrize("dtype", PRECISION)


@pytest.fixture
def benchmark(monkeypatch):
    """Imports a script of the benchmarks as they import each other."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


@pytest.fixture
def torch():
    """PyTorch on one thread: on a busy machine, threads that wait for each other take seconds."""
    torch = pytest.importorskip("torch", reason="the peer of the benchmarks needs PyTorch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield torch
    torch.set_num_threads(threads)


@pytest.fixture
def peer(torch, benchmark):
    return benchmark("clearformer.benchmarking.peer_torch")


def configuration(recipe: str = "modern", **dials) -> ModelConfiguration:
    sizes = {"layers": 2, "heads": 2, "embed": 12, "context": 8, "recipe": recipe}
    return ModelConfiguration(11, **{**sizes, **dials})


def decoder(made: ModelConfiguration, dtype: str, rng: np.random.Generator, size: float = 1.0):
    """Every parameter random, so that none is left out unnoticed: not zeros, not ones."""

    def drawn(name: str, weight: np.ndarray) -> np.ndarray:
        spread = size * len(weight) ** -0.5 if weight.ndim > 1 else 0.3
        return (name.endswith("gain") + spread * rng.standard_normal(weight.shape)).astype(dtype)

    return build_decoder(made, rng).with_parameters(drawn)


def twins(peer, torch, recipe: str, dtype: str, rng: np.random.Generator, size: float = 1.0):
    """A model and the peer with the same weights."""
    made = configuration(recipe)
    model = decoder(made, dtype, rng, size)
    twin = peer.Decoder(made, getattr(torch, dtype))
    twin.load_from(model)
    return model, twin


def require_close(found, expected, precision: float) -> None:
    """Arrays under the same names, as close as the largest number of all of them allows."""
    __tracebackhide__ = True
    assert found.keys() == expected.keys()
    largest = max(np.abs(array).max() for array in expected.values())
    for name, array in expected.items():
        np.testing.assert_allclose(
            found[name].numpy(), array, rtol=0, atol=precision * largest, err_msg=name
        )


@both_recipes
@both_precisions
def test_the_peer_has_the_same_logits(peer, torch, recipe, dtype, rng):
    model, twin = twins(peer, torch, recipe, dtype, rng)
    ids = rng.integers(11, size=(3, 8))
    with torch.no_grad():
        logits = twin(torch.from_numpy(ids))
    assert logits.numpy().dtype == dtype
    require_close({"logits": logits}, {"logits": model(ids)}, PRECISION[dtype])


@both_recipes
@both_precisions
def test_the_peer_has_the_same_loss_and_gradients(peer, torch, recipe, dtype, rng):
    model, twin = twins(peer, torch, recipe, dtype, rng)
    inputs, targets = rng.integers(11, size=(2, 4, 8))
    learner = Learner(model, next_token_loss, workers=2)
    ours = learner.loss_and_gradients(inputs, targets)
    learner.gather()
    loss = peer.next_token_loss(twin, torch.from_numpy(inputs), torch.from_numpy(targets))
    loss.backward()
    assert ours == pytest.approx(loss.item(), rel=PRECISION[dtype])
    gradients = twin.under_our_names(lambda parameter: parameter.grad)
    require_close(gradients, learner.named(learner.gradients), PRECISION[dtype])


@both_recipes
def test_the_peer_takes_the_same_training_steps(peer, torch, recipe, rng):
    model, twin = twins(peer, torch, recipe, "float64", rng)
    # a norm that is reached, so that clipping takes part
    options = TrainingOptions(steps=9, batch=4, warm_up=0.0, decay_from=1.0, clip=0.5, workers=2)
    ids = rng.integers(11, size=500)
    loop = training_loop(model, ids, configuration(recipe), options)
    drawn = training_loop(model, ids, configuration(recipe), options)
    optimizer = peer.adamw(twin, options.learning_rate)
    norms = []
    for _ in range(3):
        inputs, targets = (torch.from_numpy(part.copy()) for part in drawn.batches.next())
        loss, _, norm = loop.one_step()
        norms.append(norm)
        assert peer.train_step(twin, optimizer, inputs, targets, options.clip) == pytest.approx(
            loss
        )
    assert min(norms) > options.clip
    weights = twin.under_our_names(lambda parameter: parameter.data)
    # PyTorch divides by the norm + 1e-6 when it clips
    require_close(weights, loop.learner.model.parameters(), 1e-6)


@both_recipes
def test_the_peer_writes_the_same_text(peer, torch, recipe):
    rng = np.random.default_rng(1)  # with these weights, models of both recipes write variedly
    model, twin = twins(peer, torch, recipe, "float64", rng, size=2)
    greedy = Sampling(temperature=0.0)
    written = list(generate(model, [3, 1], 20, context=8, sampling=greedy, rng=rng))
    assert peer.generate(twin, [3, 1], 20, temperature=0.0) == written
    assert len(set(written)) > 2


def test_the_peer_draws_tokens_of_the_vocabulary(peer, torch, rng):
    _, twin = twins(peer, torch, "modern", "float32", rng)
    drawn = peer.generate(twin, [0], 30, temperature=1.0)
    assert len(drawn) == 30
    assert set(drawn) <= set(range(11))


def test_the_peer_refuses_weights_that_it_has_no_place_for(peer, rng):
    gated = configuration(activation="swiglu")
    with pytest.raises(ValueError, match=r"blocks\.0\.feed_forward\.gate\.weight"):
        peer.Decoder(gated).load_from(decoder(gated, "float32", rng))


@both_recipes
def test_the_products_use_every_matrix_once_forwards_and_twice_backwards(recipe):
    made = configuration(recipe)
    matrices = Counter(
        tuple(weight.shape)
        for name, weight in build_decoder(made, None).parameters().items()
        if weight.ndim > 1 and name != "embedding.table"
    )
    shapes = list(product_shapes(made, batch=3))
    forwards = [shape for shape in shapes[::3] if shape[0] == 1]
    assert Counter((inner, columns) for _, _, inner, columns in forwards) == matrices
    work = [many * rows * inner * columns for many, rows, inner, columns in shapes]
    assert work[::3] == work[1::3] == work[2::3]


def test_sides_take_turns_and_the_first_turn_does_not_count(monkeypatch):
    monkeypatch.setattr(interleave, "REST", 0)
    order = []

    def taker(name):
        return lambda: order.append(name) or len(order)

    taken = interleave.take_turns(2, {"a": taker("a"), "b": taker("b")})
    assert order == ["a", "b"] * 3
    assert taken == {"a": [3, 5], "b": [4, 6]}


def test_a_ratio_compares_figures_of_the_same_turn():
    report = Report("any", {}, "seconds")
    report.take({"ours": [1.0, 20.0, 3.0], "peer": [2.0, 40.0, 3.0]})
    assert report.ratios["ours / peer"].samples == (0.5, 0.5, 1.0)
    assert report.ratios["ours / peer"].median == 0.5
    assert report.sides["ours"].spread == (2.0, 11.5)
    assert "ours / peer" in report.table()


@pytest.mark.parametrize("script", ["training_step", "generation_speed"])
def test_without_pytorch_a_benchmark_says_so_and_goes_on(benchmark, monkeypatch, capsys, script):
    monkeypatch.setattr(f"clearformer.benchmarking.{script}.find_spec", lambda name: None)
    short = {
        "training_step": ["--steps", "1"],
        "generation_speed": ["--repeats", "1", "--tokens", "2"],
    }
    benchmark(script).main(["--size", "tiny", "--turns", "1", "--json", *short[script]])
    document = json.loads(capsys.readouterr().out)
    assert any("PyTorch is not installed" in note for note in document["notes"])
    assert document["sides"]["clearformer"]["median"] > 0
    assert not any("PyTorch" in name for name in document["ratios"])


C_PROGRAM = """#!{python}
import os, struct, sys
with open("model.bin", "rb") as file:
    sizes = struct.unpack("7i", file.read(28))
    rest = len(file.read())
embed, hidden, layers, heads, shared, vocabulary, context = sizes
vocabulary = -vocabulary
block = 2 * embed + 4 * embed * embed + 3 * embed * hidden
numbers = 2 * vocabulary * embed + layers * block + embed + context * embed // heads
assert rest == 4 * numbers, (sizes, rest)
assert os.path.getsize("tokenizer.bin") == 4 + 9 * vocabulary
print("a" * int(sys.argv[sys.argv.index("-n") + 1]))
print("achieved tok/s: 123.0", file=sys.stderr)
"""
"""Reads the sizes of the files, and says what the program that it stands for would say."""


def script(path, text):
    path.write_text(text.format(python=sys.executable), "utf-8")
    path.chmod(0o755)
    return path


def test_a_c_program_gets_the_whole_model_and_is_taken_at_its_word(
    benchmark, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr("clearformer.benchmarking.llama_speed.find_spec", lambda name: None)
    program = script(tmp_path / "run", C_PROGRAM)
    given = ["--llama", "--c-program", str(program), "--size", "tiny", "--tokens", "3"]
    benchmark("generation_speed").main([*given, "--turns", "1", "--repeats", "1", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["sides"]["C program, 1 thread"]["median"] == pytest.approx(123.0)
    assert document["sides"]["clearformer"]["median"] > 0
    assert document["sides"]["clearformer"]["about"].endswith("plain NumPy")
    notes = " ".join(document["notes"])
    assert "transformers is not installed" in notes
    assert "numba is not installed" in notes


def test_a_row_of_the_table_has_a_c_program_as_its_peer_only_where_one_is_named(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(rows, "LLAMA_TOKENS", {"tiny": (4, 2)})
    monkeypatch.setattr(rows, "LLAMA_REPEATS", {"tiny": 1})
    monkeypatch.setattr(rows, "VOCABULARIES", {"tiny": 11})
    program = script(tmp_path / "run", C_PROGRAM)
    for named in (program, None):
        request = Request(Corpus("", (), ()), threads=1, quick=True, c_program=named)
        report = rows.llama("tiny", "C program", request, lambda share: None)
        both = {"clearformer", "C program, 1 thread"}
        assert report.sides.keys() == (both if named else {"clearformer"})
        assert any("no C program was named" in note for note in report.notes) == (named is None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#!{python}\nimport sys; sys.exit(3)\n", "got 0, exit status 3"),
        (C_PROGRAM.replace("123.0", "0.0"), "got 4, exit status 0"),
        ("#!/no/such/interpreter\n", "could not be started"),
    ],
    ids=["fails", "no rate", "no program"],
)
def test_a_c_program_that_fails_is_told_in_one_line(tmp_path, rng, text, fault):
    made = configuration(activation="swiglu", query_key_norm=False, token_shift=False)
    peer = CProgram(script(tmp_path / "run", text), tmp_path, made, decoder(made, "float32", rng))
    with pytest.raises(ClearformerError, match=fault) as told:
        peer.rate(4, 0.8, threads=1)
    assert "\n" not in str(told.value)


def test_every_token_but_the_one_that_ends_a_c_program_may_be_drawn():
    setting = LlamaSetting("tiny", "modern", 11, 4, 0.8)
    weight = setting.model().output.linear.weight
    assert np.flatnonzero(~weight.any(axis=0)).tolist() == [END]
    assert setting.configuration.context >= setting.tokens


@pytest.mark.long
def test_hugging_face_makes_as_many_tokens_as_it_is_told(torch, benchmark):
    pytest.importorskip("transformers", reason="a peer of the benchmarks needs transformers")
    setting = LlamaSetting("tiny", "modern", 11, 4, 0.8)
    peer = benchmark("clearformer.benchmarking.peer_transformers")
    make = peer.generator(setting.configuration)
    assert [make(tokens, 0.8) for tokens in (1, 4)] == [1, 4]
    assert make(4, 0.0) == 4


@pytest.mark.parametrize("given", [["--c-program", "run"], ["--llama", "--tokens", "1"]])
def test_what_a_c_program_cannot_do_is_refused_at_once(benchmark, capsys, given):
    with pytest.raises(SystemExit):
        benchmark("generation_speed").main(given)
    assert "--llama" in capsys.readouterr().err


def test_a_command_that_fails_is_told_and_not_timed():
    env = start.environment()
    assert start.failure(("-c", "pass"), env) is None
    fault = start.failure(("-c", "import sys; sys.exit('no such thing')"), env)
    assert fault == "failed with exit status 1: no such thing"


def test_quality_is_measured_for_every_seed(benchmark, capsys, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The rain taps on the roof, and a cat sleeps on the stone.\n" * 40, "utf-8")
    short = ["--seeds", "3", "4", "--size", "tiny", "--steps", "1", "--json"]
    benchmark("quality").main([str(text), *short])
    results = json.loads(capsys.readouterr().out)["results"]
    assert [(result["seed"], result["steps"]) for result in results] == [(3, 1), (4, 1)]
    assert results[0]["validation_loss"] != results[1]["validation_loss"]


def test_saves_are_timed_in_a_run_and_alone(benchmark, capsys, tmp_path):
    short = ["--size", "tiny", "--minutes", "0.005", "--turns", "2", "--json"]
    benchmark("saving").main([*short, "--folder", str(tmp_path)])
    document = json.loads(capsys.readouterr().out)
    assert len(document["saves"]) >= 1
    assert 0 < document["share"] < 1
    assert len(document["sides"]["a save"]["samples"]) == 2
    assert document["bytes"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_the_recurrent_peer_has_the_same_outputs_and_gradients(torch, benchmark, cell):
    recurrent = benchmark("recurrent")
    setting = recurrent.Setting(cell, hidden=8, batch=4, seq=5, threads=2)
    learner = Learner(setting.layer(), recurrent.weighted_sum)
    x, weights = setting.arrays()
    ours = learner.loss_and_gradients(x, weights)
    learner.gather()
    peer = recurrent.peer_of(setting)
    loss = (peer(torch.from_numpy(x))[0] * torch.from_numpy(weights)).sum()
    loss.backward()
    assert ours == pytest.approx(loss.item(), rel=1e-4)
    gradients = learner.named(learner.gradients)
    wanted = dict(zip(("weight_input", "weight_hidden", "bias"),
                      (p.grad.numpy().T for p in peer.parameters()), strict=False))  # fmt: skip
    for name, gradient in wanted.items():
        np.testing.assert_allclose(gradients[f"cell.{name}"], gradient, 1e-4, 1e-4, err_msg=name)


def test_a_recurrent_layer_is_timed_without_pytorch_too(benchmark, monkeypatch, capsys):
    monkeypatch.setattr(benchmark("recurrent"), "find_spec", lambda name: None)
    short = ["--hidden", "8", "--batch", "2", "--seq", "3", "--turns", "1", "--repeats", "1"]
    benchmark("recurrent").main([*short, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert any("PyTorch is not installed" in note for note in document["notes"])
    assert document["sides"]["clearformer"]["median"] > 0


def test_word_vectors_are_measured_with_what_they_find(benchmark, capsys, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sleeps and the dog runs. " * 30, "utf-8")
    short = ("--turns", "1", "--epochs", "1", "--near", "cat", "--json")
    benchmark("word_vectors").main([str(text), *short])
    document = json.loads(capsys.readouterr().out)
    assert document["sides"]["clearformer"]["samples"]
    assert len(document["near"]["cat"]) == document["words"] - 1
    assert any("gensim" in note for note in document["notes"])


def test_the_peer_of_attention_has_the_same_result_and_gradients(torch):
    *inputs, grad = attention.Setting(30, True, heads=2, width=4, threads=1).arrays()
    theirs = [torch.from_numpy(x).requires_grad_() for x in inputs]
    mixed = attention.peer(theirs, torch.from_numpy(grad))
    ours = ops.attention(*inputs, causal=True)
    np.testing.assert_allclose(mixed.detach().numpy(), ours, 1e-4, 1e-5)
    for mine, leaf in zip(attention.gradients(*inputs, grad), theirs, strict=True):
        np.testing.assert_allclose(mine, leaf.grad.numpy(), 1e-4, 1e-5)


def test_attention_is_timed_without_pytorch_too(benchmark, monkeypatch, capsys):
    for module in (benchmark("attention"), attention):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    benchmark("attention").main(
        ["--lengths", "20", "--heads", "1", "--width", "4", "--turns", "1", "--whole", "--json"]
    )
    document = json.loads(capsys.readouterr().out)
    assert any("PyTorch is not installed" in note for note in document["notes"])
    assert [result["settings"]["backwards"] for result in document["results"]] == [False, True]
    for result in document["results"]:
        assert (
            result["sides"].keys() == result["megabytes"].keys() == {"clearformer", "whole table"}
        )
        assert result["sides"]["clearformer"]["median"] > 0
