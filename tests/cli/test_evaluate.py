"""Laws of `evaluate`: the numbers that training gave, for any text, or one line why not."""

import json
import math
import shutil

import pytest

import clearformer
from cli.conftest import TEXT, TINY
from cli.documents import files_in, only_document

KEYS = {"loss", "perplexity", "bits_per_character", "tokens"}


def test_json_is_one_document_with_the_keys_of_the_contract(command, trained):
    shown = command("evaluate", trained, "--json")
    assert (shown.status, shown.err) == (0, "")
    document = only_document(shown.out)
    assert set(document) >= KEYS
    assert document["perplexity"] == pytest.approx(math.exp(document["loss"]))
    assert document["tokens"] == len(TEXT) - int(len(TEXT) * 0.9) - 1


def test_without_a_text_it_is_what_training_measured(command, tmp_path, text_file):
    summary = only_document(
        command("train", text_file, "--out", tmp_path / "run", *TINY, "--json").out
    )
    document = only_document(command("evaluate", tmp_path / "run", "--json").out)
    assert document["loss"] == pytest.approx(summary["validation_loss"], rel=1e-6)
    assert document["bits_per_character"] == pytest.approx(summary["bits_per_character"], rel=1e-6)


def test_a_text_of_ones_own_is_measured_over_every_position(command, trained, text_file):
    document = only_document(command("evaluate", trained, text_file, "--json").out)
    assert document["tokens"] == len(TEXT) - 1
    expected = clearformer.load(trained).evaluate(text_file)
    assert document["loss"] == pytest.approx(expected.loss)


def test_in_words_it_gives_the_same_numbers_with_their_units(command, trained):
    document = only_document(command("evaluate", trained, "--json").out)
    shown = command("evaluate", trained)
    assert (shown.status, shown.err) == (0, "")
    assert f"{document['loss']:.4f} nats per token" in shown.out
    assert f"{document['bits_per_character']:.4f}" in shown.out
    assert f"{document['tokens']:,} tokens" in shown.out


def test_less_context_is_a_harder_task(command, trained, text_file):
    losses = [
        only_document(command("evaluate", trained, text_file, "--context", number, "--json").out)[
            "loss"
        ]
        for number in (1, 8)
    ]
    assert losses[0] > losses[1]


def test_windows_overlap_where_they_move_on_by_less(command, trained, text_file):
    whole, halves = (
        only_document(command("evaluate", trained, text_file, "--stride", number, "--json").out)
        for number in (8, 4)
    )
    assert whole == only_document(command("evaluate", trained, text_file, "--json").out)
    expected = clearformer.load(trained).evaluate(text_file, stride=4)
    assert halves["loss"] == pytest.approx(expected.loss) != whole["loss"]
    assert halves["tokens"] == len(TEXT) - 1


@pytest.mark.parametrize("stride", [0, -1, 9, 10**9])
def test_a_stride_out_of_range_is_one_line(command, trained, stride):
    assert "stride" in command("evaluate", trained, "--stride", stride).refusal()


@pytest.mark.parametrize("context", [0, -1, 9, 10**9])
def test_a_context_out_of_range_is_one_line(command, trained, context):
    assert "context" in command("evaluate", trained, "--context", context).refusal()


BAD = {
    "empty": b"",
    "one character": b"t",
    "blank": b"\n\n\n",
    "binary": bytes(range(256)),
    "shift_jis": "吾輩は猫である".encode("shift_jis"),
    "all unknown": "吾輩は猫である".encode(),
}


@pytest.mark.parametrize("name", [name for name in BAD if name != "all unknown"])
def test_a_text_that_cannot_be_measured_is_one_line(command, trained, tmp_path, name):
    (tmp_path / "bad.txt").write_bytes(BAD[name])
    command("evaluate", trained, tmp_path / "bad.txt").refusal()


def test_a_text_of_unknown_characters_is_one_line_beside_a_note(command, trained, tmp_path):
    (tmp_path / "bad.txt").write_bytes(BAD["all unknown"])
    shown = command("evaluate", trained, tmp_path / "bad.txt")
    assert (shown.status, shown.out) == (2, "")
    assert shown.err.splitlines()[-1].startswith("clearformer: 0 tokens")


def test_missing_files_and_folders_are_one_line(command, trained, tmp_path):
    assert "does not exist" in command("evaluate", trained, tmp_path / "none.txt").refusal()
    assert "is a folder" in command("evaluate", trained, tmp_path).refusal()
    assert "there is no run" in command("evaluate", tmp_path / "none").refusal()


def test_an_encoding_can_be_named(command, trained, tmp_path):
    (tmp_path / "wide.txt").write_text(TEXT, "utf-16")
    assert "--encoding utf-16" in command("evaluate", trained, tmp_path / "wide.txt").refusal()
    shown = command("evaluate", trained, tmp_path / "wide.txt", "--encoding", "utf-16", "--json")
    assert only_document(shown.out)["tokens"] == len(TEXT) - 1


def test_an_encoding_without_a_text_is_refused_rather_than_ignored(command, trained):
    line = command("evaluate", trained, "--encoding", "utf-16").refusal()
    assert "encoding is that of a text, and none is named" in line


def test_unknown_characters_are_noted_beside_the_result(command, trained, tmp_path):
    (tmp_path / "some.txt").write_text("the \x1b猫 cat", "utf-8")
    shown = command("evaluate", trained, tmp_path / "some.txt", "--json")
    only_document(shown.out)
    assert shown.err.startswith("note: 20.0% of the text is not in this model's vocabulary")
    assert "'猫'" in shown.err
    assert "\x1b" not in shown.err


def test_its_own_text_must_still_be_there(command, trained, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    document = json.loads((run / "run.json").read_text("utf-8"))
    document["corpus"]["files"] = [str(tmp_path / "gone.txt")]
    (run / "run.json").write_text(json.dumps(document))
    assert "gone.txt does not exist" in command("evaluate", run).refusal()


def test_evaluating_changes_nothing_in_the_run(command, trained):
    before = files_in(trained)
    command("evaluate", trained)
    assert files_in(trained) == before
