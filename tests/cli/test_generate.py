"""Laws of `generate`: the text is the result, all else is told beside it."""

import pytest

import clearformer
from clearformer.runs.run import Run
from cli.conftest import TEXT, TINY
from cli.documents import files_in, only_document

KEYS = {"prompt", "text", "tokens", "seconds", "tokens_per_second"}


def test_the_text_is_on_standard_output_and_all_else_is_not(command, trained):
    shown = command("generate", trained, "--prompt", "the ", "--tokens", 5, "--seed", 1)
    assert shown.status == 0
    assert shown.out.startswith("the ")
    assert len(shown.out) == len("the ") + 5 + 1
    assert "5 tokens" in shown.err


def test_json_is_one_document_with_the_keys_of_the_contract(command, trained):
    shown = command("generate", trained, "--prompt", "the ", "--tokens", 5, "--seed", 1, "--json")
    document = only_document(shown.out)
    assert set(document) >= KEYS
    assert (document["prompt"], document["tokens"], len(document["text"])) == ("the ", 5, 5)
    assert document["seconds"] > 0
    assert document["tokens_per_second"] == pytest.approx(5 / document["seconds"])
    plain = command("generate", trained, "--prompt", "the ", "--tokens", 5, "--seed", 1)
    assert plain.out == document["prompt"] + document["text"] + "\n"


def test_it_is_what_python_gives(command, trained):
    shown = command("generate", trained, "--tokens", 5, "--seed", 3, "--temperature", 1.2, "--json")
    expected = clearformer.load(trained).generate(tokens=5, seed=3, temperature=1.2)
    assert only_document(shown.out)["text"] == expected


def text_of(command, trained, *arguments):
    shown = command("generate", trained, "--tokens", 30, "--json", *arguments)
    return only_document(shown.out)["text"]


def test_the_seed_decides_and_without_one_each_text_is_new(command, trained):
    texts = [text_of(command, trained, "--seed", seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert text_of(command, trained) != text_of(command, trained)


def test_temperature_zero_and_top_k_one_are_the_same(command, trained):
    greedy = text_of(command, trained, "--temperature", 0)
    assert text_of(command, trained, "--top-k", 1) == greedy
    assert text_of(command, trained, "--top-p", 1e-9) == greedy


def test_the_cache_changes_nothing(command, trained):
    for seed in range(3):
        assert text_of(command, trained, "--seed", seed) == text_of(
            command, trained, "--seed", seed, "--no-cache"
        )


@pytest.mark.parametrize("flags, expected", [([], True), (["--no-cache"], False)])
def test_the_cache_is_used_unless_told_otherwise(command, trained, monkeypatch, flags, expected):
    asked = []

    def stream(self, prompt, tokens, sampling, *, seed, cached):
        asked.append(cached)
        return iter(())

    monkeypatch.setattr(Run, "stream", stream)
    command("generate", trained, *flags)
    assert asked == [expected]


def test_what_does_not_fit_is_told_once(command, trained):
    shown = command("generate", trained, "--prompt", "猫the ", "--tokens", 30)
    assert shown.err.count("slides") == 1
    assert shown.err.count("'猫'") == 1
    told = only_document(
        command("generate", trained, "--prompt", "猫the ", "--tokens", 30, "--json").out
    )
    assert len(told["notes"]) == 2


def test_no_tokens_are_no_error(command, trained):
    shown = command("generate", trained, "--prompt", "the", "--tokens", 0)
    assert (shown.status, shown.out) == (0, "the\n")
    document = only_document(command("generate", trained, "--tokens", 0, "--json").out)
    assert (document["text"], document["tokens"]) == ("", 0)


@pytest.mark.parametrize(
    "arguments, word",
    [
        (["--tokens", "-1"], "tokens"),
        (["--tokens", "1000000000"], "tokens"),
        (["--temperature", "-1"], "temperature"),
        (["--temperature", "nan"], "temperature"),
        (["--temperature", "inf"], "temperature"),
        (["--top-k", "0"], "top_k"),
        (["--top-k", "-5"], "top_k"),
        (["--top-p", "0"], "top_p"),
        (["--top-p", "1.5"], "top_p"),
        (["--top-p", "nan"], "top_p"),
        (["--seed", "-1"], "seed"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["plain", "json"])
def test_a_number_out_of_range_is_one_line(command, trained, arguments, word, more):
    line = command("generate", trained, "--prompt", "the ", *arguments, *more).refusal()
    assert word in line


def test_what_is_no_run_is_one_line_and_nothing_is_made(command, tmp_path, text_file):
    before = files_in(tmp_path)
    assert "there is no run" in command("generate", tmp_path / "none").refusal()
    assert "not a run" in command("generate", tmp_path).refusal()
    assert "not a run" in command("generate", text_file).refusal()
    assert files_in(tmp_path) == before


def test_generating_changes_nothing_in_the_run(command, trained):
    before = files_in(trained)
    command("generate", trained, "--tokens", 5)
    assert files_in(trained) == before


def test_control_characters_are_shown_not_sent(command, tmp_path, monkeypatch):
    """Of the prompt, and of a text that the model learned them from."""
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_, **__: False)
    (tmp_path / "evil.txt").write_text("\x1b[31m\x07\x9b\u202e" * 100, "utf-8")
    trained = command("train", tmp_path / "evil.txt", "--out", tmp_path / "run", *TINY)
    written = command("generate", tmp_path / "run", "--prompt", "\x1b]0;title\x07", "--tokens", 40)
    document = command("generate", tmp_path / "run", "--tokens", 40, "--json")
    for shown in (trained, written, document):
        assert shown.status == 0
        for stream in (shown.out, shown.err):
            assert all(c.isprintable() or c == "\n" for c in stream)
    assert "\\x1b" in written.out


def test_a_prompt_that_is_no_text_is_no_crash(command, trained):
    """Bytes that the shell passes on, but that are no characters."""
    for more in ([], ["--json"]):
        shown = command("generate", trained, "--prompt", "\udcff\ud800", "--tokens", 3, *more)
        assert shown.status == 0
        shown.out.encode("utf-8")


def test_text_in_another_script_is_written_as_it_is(command, tmp_path):
    text = "吾輩は猫である。名前はまだ無い。\n" * 40
    (tmp_path / "ja.txt").write_text(text, "utf-8")
    command(
        "train", tmp_path / "ja.txt", "--out", tmp_path / "run", "--tokenizer", "bytepair", *TINY
    )
    shown = command("generate", tmp_path / "run", "--prompt", "吾輩は", "--tokens", 8, "--seed", 1)
    assert shown.status == 0
    assert shown.out.startswith("吾輩は")


def test_every_piece_arrives_as_it_is_written(trained, monkeypatch, command):
    """A person sees the text grow; it is not held back until the end."""
    pieces = []
    monkeypatch.setattr("click.echo", lambda text="", **options: pieces.append((text, options)))
    command("generate", trained, "--tokens", 10, "--seed", 0)
    written = [text for text, options in pieces if not options.get("err") and text]
    assert len(written) >= 10
    assert set("".join(written)) <= set(TEXT)
