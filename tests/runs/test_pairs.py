"""Laws of runs on pairs: from files, from a task, resumed, and used for what they are not."""

import json
import shutil

import pytest

import clearformer as cf
from clearformer.errors import (
    ConfigurationError,
    Interrupted,
    NotFiniteError,
    RunError,
    TextError,
)
from clearformer.runs import task_material
from clearformer.text.pairs import is_held_out, write_pairs
from runs.tiny import StopAt, Told, change_configuration, refused

PAIRS = [(f"{n} and {n % 7}", f"{n + n % 7}") for n in range(120)]

TINY = {"embed": 8, "context": 16, "batch": 4, "steps": 12}

every_kind = pytest.mark.parametrize(
    ("kind", "dials"),
    [
        ("seq2seq", {"cell": "lstm", "bidirectional": True, "hidden": 8}),
        ("encoder-decoder", {"heads": 2, "layers": 1}),
    ],
    ids=["seq2seq", "encoder-decoder"],
)


@pytest.fixture
def pair_file(tmp_path):
    write_pairs(tmp_path / "sums.tsv", PAIRS)
    return tmp_path / "sums.tsv"


def model_file(path, step):
    return (path / "checkpoints" / f"step-{step:06}" / "model.safetensors").read_bytes()


@every_kind
def test_a_resumed_run_ends_where_an_uninterrupted_one_ends(tmp_path, pair_file, kind, dials):
    chosen = {**TINY, **dials, "dropout": 0.2, "teacher_forcing": 0.6, "accumulation": 2}
    whole = cf.train(pair_file, model=kind, out=tmp_path / "whole", **chosen)
    with pytest.raises(Interrupted):
        cf.train(pair_file, model=kind, out=tmp_path / "run", reporter=StopAt(5), **chosen)
    parts = cf.train(out=tmp_path / "run", resume=True)
    assert model_file(tmp_path / "run", 12) == model_file(tmp_path / "whole", 12)
    for name in ("train_loss", "validation_loss", "accuracy", "tokens_seen"):
        assert parts.summary[name] == whole.summary[name]


def test_all_count_the_tokens_of_pairs_alike(tmp_path, pair_file):
    class Hearing(Told):
        def started(self, start):
            heard.append((start.tokens, start.validation_tokens))

    heard = []
    run = cf.train(
        pair_file, model="seq2seq", out=tmp_path / "run", reporter=Hearing(), **TINY, hidden=8
    )
    parts = {True: 0, False: 0}
    for source, target in PAIRS:
        parts[is_held_out(source)] += len(target) + 1  # each with its end
    assert heard == [(parts[False], parts[True])]
    assert run.evaluate().tokens == parts[True]


@every_kind
def test_a_run_learns_by_heart_and_translates(tmp_path, kind, dials):
    pairs = [(source, "yes" if len(source) % 2 else "no") for source in ("a", "bb", "ccc", "dd")]
    learned = [pair for pair in pairs if not is_held_out(pair[0])]
    text = "".join(f"{source}\t{target}\n" for source, target in pairs)
    sizes = {**TINY, **dials, "embed": 16, "batch": 8, "steps": 250, "learning_rate": 1e-2}
    run = cf.train(text, model=kind, out=tmp_path / "run", **sizes)
    sources = [source for source, _ in learned]
    for beam in (1, 3):
        assert run.translate(sources, beam=beam) == [target for _, target in learned]
    assert cf.load(tmp_path / "run").translate(sources) == [target for _, target in learned]


@every_kind
def test_both_engines_translate_alike(tmp_path, pair_file, kind, dials):
    pytest.importorskip("torch")
    run = cf.train(pair_file, model=kind, out=tmp_path / "run", **TINY, **dials)
    sources = [source for source, _ in PAIRS[:9]]
    theirs = cf.load(run.path, engine="torch")
    assert theirs.translate(sources, beam=2) == run.translate(sources, beam=2)
    mine, found = run.evaluate(), theirs.evaluate()
    assert found.loss == pytest.approx(mine.loss, rel=1e-5)
    assert found.accuracy == mine.accuracy
    assert run.evaluate(pair_file).tokens > mine.tokens


def test_pytorch_trains_on_pairs(tmp_path, pair_file):
    pytest.importorskip("torch")
    both = [
        cf.train(pair_file, model="seq2seq", out=tmp_path / engine, engine=engine,
                 teacher_forcing=0.7, **TINY)
        for engine in ("numpy", "torch")
    ]  # fmt: skip
    assert both[1].summary["validation_loss"] == pytest.approx(
        both[0].summary["validation_loss"], rel=1e-4
    )


def test_samples_show_source_answer_and_what_was_right(tmp_path, pair_file):
    cf.train(pair_file, model="seq2seq", out=tmp_path / "run", **TINY)
    samples = (tmp_path / "run" / "samples.txt").read_text("utf-8")
    held_out = [pair for pair in PAIRS if is_held_out(pair[0])]
    source, target = held_out[0]
    assert f"{source} → " in samples
    assert f"right is {target})" in samples
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert any("accuracy" in line for line in log)


def test_a_run_on_a_task_finds_its_pairs_again(tmp_path, monkeypatch):
    monkeypatch.setattr(task_material, "TO_LEARN", 60)
    monkeypatch.setattr(task_material, "TO_BE_JUDGED", 20)
    told = Told()
    sizes = {**TINY, "context": 40}
    run = cf.train(task="dates", model="seq2seq", out=tmp_path / "run", reporter=told, **sizes)
    assert any("60 pairs of the task dates" in note for note in told.notes)
    monkeypatch.setattr(task_material, "TO_LEARN", 70)  # another version draws more
    longer = cf.train(out=tmp_path / "run", resume=True, steps=20)
    assert longer.step == 20
    assert run.evaluate().tokens == 20 * 11
    changed = {"pairs": 61}, {"seed": 1}, {"task": "copy"}, {"pairs": 10**30}, {"settings": 3}
    for number, change in enumerate(changed):
        copy = tmp_path / f"copy-{number}"
        shutil.copytree(tmp_path / "run", copy)
        change_configuration(copy, lambda document, new=change: document["corpus"].update(new))
        refused(RunError, cf.train, out=copy, resume=True, steps=25)


def test_other_pairs_are_refused(tmp_path, pair_file):
    cf.train(pair_file, model="seq2seq", out=tmp_path / "run", **TINY)
    pair_file.write_text(pair_file.read_text() + "1\t2\n")
    said = refused(RunError, cf.train, out=tmp_path / "run", resume=True, steps=20)
    assert "is not the one" in said


def test_what_is_too_long_is_refused_with_its_line(tmp_path):
    file = tmp_path / "long.tsv"
    for long, side in (((f"{'x' * 20}", "y"), "source"), (("y", "x" * 16), "target")):
        write_pairs(file, [("a", "b"), long, *PAIRS[:10]])
        said = refused(TextError, cf.train, file, model="seq2seq", out=tmp_path / "run", **TINY)
        tokens = len(max(long, key=len))
        assert f"long.tsv, line 2: the {side} has {tokens} tokens and its end" in said
        assert "--context" in said
    write_pairs(file, [("a" * 15, "b" * 15), *PAIRS[:10]])
    run = cf.train(file, model="seq2seq", out=tmp_path / "run", **TINY)
    write_pairs(file, [("1", "2"), ("3", "4" * 16)])
    assert "long.tsv, line 2: the target has 16" in refused(TextError, run.evaluate, file)


def test_what_is_not_finite_first_is_named(tmp_path, pair_file):
    said = refused(
        NotFiniteError, cf.train, pair_file, model="encoder-decoder", out=tmp_path / "run",
        heads=2, **{**TINY, "learning_rate": 1e12, "clip": 1e9},
    )  # fmt: skip
    assert "not finite" in said


@pytest.mark.parametrize(
    ("options", "kind", "said"),
    [
        ({"model": "seq2seq"}, TextError, "learns from pairs"),
        ({"model": "seq2seq", "task": "nothing"}, ConfigurationError, "no task 'nothing'"),
        ({"model": "seq2seq", "task": "recall"}, ConfigurationError, "has no pairs"),
        ({"task": "dates"}, ConfigurationError, "--model seq2seq or encoder-decoder"),
        ({"text": "a\tb", "model": "seq2seq", "task": "dates"}, ConfigurationError, "not both"),
        ({"text": "a\tb\nc", "model": "seq2seq"}, TextError, "line 2"),
        ({"text": "a\tb", "model": "seq2seq", "heads": 2}, ConfigurationError, "has no heads"),
        ({"text": "g\tb", "model": "seq2seq"}, TextError, "no pairs to learn from"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(tmp_path, options, kind, said):
    assert said in refused(kind, cf.train, out=tmp_path / "run", **TINY, **options)
    assert not (tmp_path / "run").exists()


def test_a_run_on_pairs_does_not_write_on_and_a_run_on_text_does_not_translate(
    tmp_path, pair_file, run
):
    on_pairs = cf.train(pair_file, model="seq2seq", out=tmp_path / "pairs", **TINY)
    assert "clearformer translate" in refused(ConfigurationError, on_pairs.generate, "1")
    assert "clearformer generate" in refused(ConfigurationError, run.translate, ["1"])
    assert "leave out" in refused(ConfigurationError, on_pairs.evaluate, context=4)
    for texts in ("one text", 5, None, b"1", ["1", 5]):
        assert "texts is a list" in refused(ConfigurationError, on_pairs.translate, texts)
    assert "text 2" in refused(TextError, on_pairs.translate, ["1", "?!"])
    assert "text 1 has 20 tokens" in refused(TextError, on_pairs.translate, ["1" * 20])
    with pytest.warns(UserWarning, match="not in this model's vocabulary.*'é'"):
        on_pairs.translate(["1 é"])
    assert on_pairs.translate([]) == []
