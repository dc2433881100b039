"""An encoder on the command line: trained, asked, judged, explained."""

import pytest

from cli.conftest import TINY
from cli.documents import only_document


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    import clearformer
    from cli.conftest import TEXT

    folder = tmp_path_factory.mktemp("encoder")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    clearformer.train(
        folder / "tiny.txt", out=folder / "run", model="encoder", layers=1, heads=2, embed=8,
        context=8, batch=4, steps=12,
    )  # fmt: skip
    return folder / "run"


def test_training_tells_what_it_reached(command, text_file, tmp_path):
    shown = command(
        "train", text_file, "--model", "encoder", "--masked", "0.25", *TINY,
        "--out", tmp_path / "run", "--json",
    )  # fmt: skip
    document = only_document(shown.out)
    assert document["steps"] == 12
    assert document["tokens_seen"] == 12 * 4 * 2
    assert "encoder" in shown.err
    assert any("cannot be compared" in note for note in document["notes"])


def test_training_shows_what_is_filled_in_and_how_to_ask(command, text_file, tmp_path):
    shown = command("train", text_file, "--model", "encoder", *TINY, "--out", tmp_path / "run")
    assert "What it fills in after 12 steps" in shown.out
    assert "cannot be compared" in shown.out
    assert "with a <mask>" in shown.out


def test_generate_fills_in_and_prints_the_text_alone(command, encoder):
    shown = command("generate", encoder, "--prompt", "the <mask>at", "--seed", 1)
    assert shown.status == 0
    assert len(shown.out) == len("the cat\n")
    assert shown.out.startswith("the ")
    document = only_document(
        command("generate", encoder, "--prompt", "the <mask>at", "--seed", 1, "--json").out
    )
    assert document["text"] == shown.out[:-1]
    assert (document["prompt"], document["tokens"]) == ("the <mask>at", 1)


def test_generate_refuses_what_makes_no_sense(command, encoder):
    assert "expected <mask>" in command("generate", encoder, "--prompt", "the cat").refusal()
    assert "expected <mask>" in command("generate", encoder).refusal()
    asked = ("generate", encoder, "--prompt", "<mask>")
    assert command(*asked, "--tokens", 3).status == 2
    assert command(*asked, "--no-cache").status == 2


def test_of_a_decoder_a_mask_is_plain_text(command, trained):
    shown = command("generate", trained, "--prompt", "<mask>the", "--tokens", 2)
    assert shown.status == 0
    assert shown.out.startswith("<mask>the")


def test_evaluate_says_that_its_figures_are_of_another_kind(command, encoder):
    shown = command("evaluate", encoder)
    assert "cannot be compared" in shown.err
    assert "accuracy" in shown.out
    document = only_document(command("evaluate", encoder, "--json").out)
    assert 0 <= document["accuracy"] <= 1
    assert any("cannot be compared" in note for note in document["notes"])


def test_evaluate_says_nothing_of_the_sort_of_a_decoder(command, trained):
    assert "compared" not in command("evaluate", trained).err


def test_explain_shows_the_candidates(command, encoder):
    shown = command("explain", "--run", encoder, "th<mask> c<mask>t")
    assert "In the place of “<mask>” (position 2)" in shown.out
    document = only_document(command("explain", "--run", encoder, "th<mask> c", "--json").out)
    assert document["masks"][0]["candidates"] == document["next"]
