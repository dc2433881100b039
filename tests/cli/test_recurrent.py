"""Recurrent models from the command line: train, resume, write, be judged and be explained."""

import json

import pytest

from clearformer.training.checkpoint import load_latest, save_checkpoint
from cli.documents import only_document

TINY = (
    *("--layers", "2", "--embed", "8", "--hidden", "7", "--context", "8"),
    *("--batch", "4", "--steps", "12", "--dropout", "0.1", "--accumulation", "2"),
)

every_kind = pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])


@pytest.fixture
def run_of(command, tmp_path, text_file):
    """Trains a run of a kind."""

    def train(kind, *more):
        path = tmp_path / kind
        shown = command("train", text_file, "--model", kind, "--out", path, *TINY, *more, "--json")
        assert shown.status == 0, shown.err
        return path, only_document(shown.out), shown.err

    return train


@every_kind
def test_a_run_from_beginning_to_end(command, run_of, kind):
    run, told, heard = run_of(kind)
    assert (told["steps"], told["tokens_seen"]) == (12, 12 * 4 * 8)
    assert f"{kind.upper()}, {told['parameters']:,} parameters: 2 layers, hidden 7" in heard
    longer = only_document(
        command("train", "--resume", "--out", run, "--steps", "20", "--json").out
    )
    assert longer["steps"] == 20
    judged = only_document(command("evaluate", run, "--json").out)
    assert judged["loss"] == pytest.approx(longer["validation_loss"])
    forgetful = only_document(command("evaluate", run, "--context", "2", "--json").out)
    assert forgetful["tokens"] == judged["tokens"]
    assert forgetful["loss"] != judged["loss"]
    written = [
        only_document(command("generate", run, "--seed", "1", "--tokens", "40", "--prompt",
                              "the cat " * 9, *flags, "--json").out)
        for flags in ((), ("--no-cache",))
    ]  # fmt: skip
    assert written[0]["text"] == written[1]["text"]
    assert written[0]["notes"] == []
    page = command("explain", "the cat", "--run", run)
    assert page.status == 0
    assert f"{kind.upper()}: one token after another" in page.out
    stages = only_document(command("explain", "the cat", "--run", run, "--json").out)["stages"]
    assert "layers.1.hidden" in [stage["name"] for stage in stages]


@every_kind
def test_a_run_goes_on_writes_and_is_judged_on_the_other_engine(command, run_of, kind):
    pytest.importorskip("torch", reason="the engine torch needs PyTorch (extra torch)")
    run, _, _ = run_of(kind)
    on_torch = ("--engine", "torch", "--device", "cpu")
    for what in (("generate", run, "--seed", "1", "--tokens", "30"), ("evaluate", run)):
        one, other = (only_document(command(*what, *more, "--json").out) for more in ((), on_torch))
        for key in ("text", "loss"):
            if key in one:
                assert other[key] == (one[key] if key == "text" else pytest.approx(one[key]))
    document = only_document(
        command("train", "--resume", "--out", run, "--steps", "16", *on_torch, "--json").out
    )
    assert document["steps"] == 16
    assert json.loads((run / "run.json").read_text("utf-8"))["engine"] == "torch"
    back = command(
        "train", "--resume", "--out", run, "--steps", "20", "--engine", "numpy", "--json"
    )
    assert only_document(back.out)["steps"] == 20


def test_a_gru_can_be_that_of_the_paper(run_of):
    run, _, _ = run_of("gru", "--reset", "before", "--tied")
    document = json.loads((run / "run.json").read_text("utf-8"))["model"]
    assert (document["reset"], document["tied"], document["hidden"]) == ("before", True, 7)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--heads", "2"), "a model of kind rnn has no heads; it has layers, embed"),
        (("--reset", "before"), "a model of kind rnn has no reset"),
        (("--recipe", "classic"), "a model of kind rnn has no recipe"),
    ],
)
def test_what_it_lacks_is_refused_with_what_it_has(command, tmp_path, text_file, flags, message):
    shown = command("train", text_file, "--model", "rnn", "--out", tmp_path / "run", *flags)
    assert message in shown.refusal()
    assert not (tmp_path / "run").exists()


def test_a_context_below_one_is_refused(command, run_of):
    run, _, _ = run_of("rnn")
    assert (
        "context must be at least 1; got 0" in command("evaluate", run, "--context", "0").refusal()
    )


def test_a_save_without_its_states_is_refused(command, run_of):
    run, _, _ = run_of("rnn")
    saved = load_latest(run / "checkpoints")
    kept = {n: array for n, array in saved.optimizer.items() if not n.startswith("carried.")}
    assert len(kept) == len(saved.optimizer) - 2  # of two layers
    state = {**saved.state, "step": 13}
    save_checkpoint(run / "checkpoints", 13, model=saved.model, optimizer=kept, state=state)
    shown = command("train", "--resume", "--out", run, "--steps", "20")
    assert "the states are those of another model or batch" in shown.refusal()
