"""Laws of a run: loaded it is the run that was trained; what it says about a text is exact."""

import copy
import math

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, RunError, TextError
from clearformer.generation.sampling import Sampling
from runs.tiny import DIALS, TEXT, refused


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Trained long enough that the next token depends on what was before."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    return cf.train(folder / "tiny.txt", out=folder / "run", **(DIALS | {"steps": 60}))


quietly = pytest.mark.filterwarnings("ignore:this model sees:UserWarning")


def test_loaded_it_is_the_run_that_was_trained(run):
    again = cf.load(run.path)
    assert (again.step, again.start_token, again.path) == (60, run.start_token, run.path)
    assert again.configuration == run.configuration.completed
    assert again.tokenizer.fingerprint == run.tokenizer.fingerprint
    for (name, one), (other_name, other) in zip(
        run.model.parameters().items(), again.model.parameters().items(), strict=True
    ):
        assert name == other_name
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@quietly
@pytest.mark.parametrize(
    "options",
    [{}, {"temperature": 0.0}, {"top_k": 3}, {"top_p": 0.7}, {"prompt": "the "}, {"cached": False}],
    ids=str,
)
def test_loaded_it_writes_what_the_trained_one_writes(run, options):
    expected = run.generate(tokens=30, seed=3, **options)
    assert cf.load(str(run.path)).generate(tokens=30, seed=3, **options) == expected


@quietly
def test_with_a_cache_and_without_it_writes_the_same(run):
    for seed in range(5):
        assert run.generate("the ", 40, seed=seed) == run.generate(
            "the ", 40, seed=seed, cached=False
        )


@quietly
@pytest.mark.parametrize(
    "options",
    [
        *({"prompt": value} for value in (5, None, b"the")),
        *({"tokens": value} for value in ("5", 5.5, None)),
        *({"temperature": value} for value in ("1", None, [0.5])),
        *({"top_k": value} for value in ("2", 2.5)),
        *({"top_p": value} for value in ("0.5", [0.5])),
        *({"seed": value} for value in ("1", 1.5)),
    ],
    ids=str,
)
def test_what_is_no_prompt_and_no_number_is_refused_by_name(run, options):
    assert next(iter(options)) in refused(ConfigurationError, run.generate, **options)


@pytest.mark.parametrize("context", ["4", 4.5])
def test_a_context_that_is_no_whole_number_is_refused(run, context):
    assert "context" in refused(ConfigurationError, run.evaluate, TEXT, context=context)


@quietly
def test_the_seed_decides_the_text(run):
    texts = [run.generate(tokens=40, seed=seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert run.generate(tokens=40) != run.generate(tokens=40)


@quietly
def test_at_temperature_zero_there_is_no_luck(run):
    assert len({run.generate(tokens=30, temperature=0.0, seed=seed) for seed in range(4)}) == 1


@quietly
@pytest.mark.parametrize("tokens", [0, 1, 7, 50])
def test_it_writes_as_many_tokens_as_asked(run, tokens):
    assert len(run.generate("a", tokens, seed=0)) == tokens


@quietly
def test_the_pieces_together_are_the_text(run):
    prompt = run.prompt("the ", 30)
    pieces = list(run.stream(prompt, 30, Sampling(), seed=4))
    assert "".join(pieces) == run.generate("the ", 30, seed=4)
    assert len([piece for piece in pieces if piece]) == 30


@pytest.mark.parametrize(
    "options, word",
    [
        ({"tokens": -1}, "tokens"),
        ({"tokens": 10**9}, "tokens"),
        ({"temperature": -0.1}, "temperature"),
        ({"temperature": math.nan}, "temperature"),
        ({"temperature": math.inf}, "temperature"),
        ({"top_k": 0}, "top_k"),
        ({"top_p": 0.0}, "top_p"),
        ({"top_p": 1.1}, "top_p"),
        ({"top_p": math.nan}, "top_p"),
        ({"seed": -1}, "seed"),
    ],
)
@quietly
def test_a_number_out_of_range_is_refused(run, options, word):
    assert word in refused(ConfigurationError, run.generate, **({"tokens": 5} | options))


def test_unknown_characters_are_told_and_never_a_crash(run):
    with pytest.warns(UserWarning, match=r"the model does not see it: '猫' \(2 times\), 'Z'"):
        text = run.generate("猫Z猫", 3, seed=0)
    assert text == run.generate("", 3, seed=0)


def test_a_prompt_of_control_tokens_is_plain_text(tmp_path):
    run = cf.train(TEXT + "<unk>", out=tmp_path / "run", tokenizer="words", **DIALS)
    ids = run.prompt("<pad> <unk>").ids
    assert 0 not in ids


def test_a_prompt_longer_than_the_context_is_told(run):
    (note,) = run.prompt(TEXT[:20], 1).notes
    assert "20 tokens" in note
    assert "sees 8" in note
    assert len(run.prompt(TEXT[:20]).ids) == 20


def test_a_window_that_will_slide_is_told_and_one_that_fits_is_not(run):
    assert run.prompt("the ", 5).notes == ()
    (note,) = run.prompt("the ", 6).notes
    assert "slides" in note


def test_without_a_prompt_it_begins_after_the_start_token(run):
    assert run.prompt("").ids == (run.start_token,)


# Evaluation.


def test_its_own_validation_part_gives_the_loss_of_training(run):
    found = run.evaluate()
    assert found.loss == pytest.approx(run.summary["validation_loss"], rel=1e-6)
    assert found.bits_per_character == pytest.approx(run.summary["bits_per_character"], rel=1e-6)
    assert found.tokens == len(TEXT) - int(len(TEXT) * 0.9) - 1
    assert cf.load(run.path).evaluate() == found


def test_a_text_and_a_file_with_it_give_the_same(run, tmp_path):
    text = "the dog sat on the cat."
    (tmp_path / "other.txt").write_text(text, "utf-8")
    found = run.evaluate(text)
    assert run.evaluate(tmp_path / "other.txt") == found
    assert run.evaluate([tmp_path / "other.txt"]) == found
    assert (found.tokens, found.characters) == (len(text) - 1, len(text) - 1)


def test_a_text_like_the_one_it_learned_is_easier_than_nonsense(run):
    assert run.evaluate("the cat sat on the mat").loss < run.evaluate("tttaaa;;;ooohhhddd").loss


def test_less_context_is_allowed_and_more_is_not(run):
    assert run.evaluate(context=8) == run.evaluate()
    assert run.evaluate(context=1).loss > run.evaluate(context=8).loss
    for context in (0, -1, 9):
        message = refused(ConfigurationError, run.evaluate, context=context)
        assert "between 1 and the 8 tokens" in message


@pytest.mark.parametrize("text", ["", "  ", "\n", "t"])
def test_a_text_too_short_to_measure_is_refused(run, text):
    refused(TextError, run.evaluate, text)


@pytest.mark.filterwarnings("ignore:.*not in this model's:UserWarning")
def test_a_text_of_unknown_characters_is_refused(run):
    refused(TextError, run.evaluate, "吾輩は猫")


def test_unknown_pieces_are_told_and_charged_for(run):
    with pytest.warns(UserWarning, match="of the text is not in this model's vocabulary .*'猫'"):
        found = run.evaluate("the 猫 cat 猫")
    assert (found.tokens, found.characters) == (8, 10)
    assert found.spelling == pytest.approx(2 * 3 * math.log(256))


@pytest.mark.parametrize(
    ("kind", "fate"), [("characters", "the loss is that of the rest"), ("words", "read as <unk>")]
)
def test_what_unknown_pieces_mean_for_the_loss_is_told_by_the_tokenizer(tmp_path, kind, fate):
    run = cf.train(TEXT, out=tmp_path / "run", tokenizer=kind, **DIALS)
    with pytest.warns(UserWarning, match=fate):
        run.evaluate("the 猫 cat 猫")


@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
def test_bits_per_character_count_the_characters_of_the_text(tmp_path, kind):
    run = cf.train(TEXT, out=tmp_path / "run", tokenizer=kind, **DIALS)
    found = run.evaluate("the cat sat on the mat; the dog ran to the cat")
    first = len(run.tokenizer.decode(run.tokenizer.encode("the cat sat")[:1]))
    assert found.characters == 46 - first
    bits = found.loss / math.log(2) * found.tokens / found.characters
    assert found.bits_per_character == pytest.approx(bits)


def test_its_own_text_must_be_there_and_unchanged(tmp_path, text_file):
    run = cf.train(text_file, out=tmp_path / "run", **DIALS)
    text_file.write_text(TEXT + "more", "utf-8")
    assert "changed" in refused(RunError, run.evaluate)
    text_file.unlink()
    assert "does not exist" in refused(RunError, run.evaluate)
    assert run.evaluate(TEXT).tokens == len(TEXT) - 1


def test_a_run_too_short_for_a_validation_part_says_so(tmp_path):
    (tmp_path / "ten.txt").write_text("abcdefghij", "utf-8")
    run = cf.train(tmp_path / "ten.txt", out=tmp_path / "run", **(DIALS | {"context": 4}))
    assert run.summary["validation_loss"] is None
    refused(TextError, run.evaluate)


def test_what_was_noticed_in_a_text_to_be_judged_is_told(run, tmp_path):
    (tmp_path / "windows.txt").write_bytes(b"the cat sat\r\non the mat\r\n")
    unknown, ends = "in this model's vocabulary", "2 Windows line ends"
    with pytest.warns(UserWarning, match=unknown), pytest.warns(UserWarning, match=ends):
        run.evaluate(tmp_path / "windows.txt")


def test_a_run_is_itself_and_no_other(run):
    assert run == run
    assert run != copy.copy(run)
    assert {run: 1}[run] == 1
