"""Laws of a comparison: equal terms, the same again, and nothing lost when it is stopped."""

import json
import os
import signal
import sys

import numpy as np
import pytest

from clearformer.comparison import plan
from clearformer.comparison.compare import compare
from clearformer.comparison.document import MEASURES, Comparison
from clearformer.errors import ConfigurationError, Interrupted, RunError, TextError
from clearformer.models.kinds import KINDS
from clearformer.training.lock import RunLock
from comparison.small import (
    BY_CLOCK,
    DECODER,
    TEXT,
    Ears,
    Ending,
    StoppedError,
    small,
    small_task,
    timeless,
)

pytestmark = pytest.mark.usefixtures("unchecked_shapes")


@pytest.fixture(scope="module")
def found() -> Comparison:
    return small()


def test_every_model_is_there_with_every_seed(found):
    assert [(r.model, r.seed) for r in found.results] == [("ngram", 0), (DECODER, 0), (DECODER, 1)]
    assert found.names == ["ngram", DECODER]


def test_parameters_and_tokens_are_as_the_budget_says(found):
    for result in found.of(DECODER):
        assert abs(result.parameters - 1500) <= 0.02 * 1500
        assert result.tokens == 320
    (counted,) = found.of("ngram")
    assert counted.tokens == 320
    assert counted.parameters > 0


def test_the_document_comes_back_from_json(found):
    written = json.dumps(found.to_json(), allow_nan=False)
    assert Comparison.from_json(json.loads(written)) == found


def test_the_keys_of_the_contract_are_there(found):
    document = found.to_json()
    assert {"results", "summary", "budget", "task", "search", "text", "machine", "why"} <= set(
        document
    )
    for result in document["results"]:
        assert {
            "model", "seed", "parameters", "tokens", "seconds", "bits_per_character", "perplexity",
            "accuracy", "tokens_per_second", "memory", "learning_rate", "curve",
        } <= set(result)  # fmt: skip
    for measures in document["summary"].values():
        assert set(measures) <= set(MEASURES)
        for interval in measures.values():
            assert set(interval) == {"mean", "low", "high", "seeds"}


def test_the_summary_is_that_of_the_results(found):
    values = [result.bits_per_character for result in found.of(DECODER)]
    interval = found.summary[DECODER]["bits_per_character"]
    assert interval["mean"] == pytest.approx(np.mean(values))
    half = 12.7062 * np.std(values, ddof=1) / np.sqrt(2)
    assert interval["high"] - interval["mean"] == pytest.approx(half, rel=1e-4)
    assert found.summary["ngram"]["bits_per_character"]["low"] == values_of(found, "ngram")[0]


def values_of(found, name):
    return [result.bits_per_character for result in found.of(name)]


def test_the_curve_goes_from_the_first_step_to_the_last(found):
    for result in found.of(DECODER):
        assert result.curve[0].tokens == 32
        assert result.curve[-1].tokens == result.tokens
        assert result.curve[-1].seconds == result.seconds
    assert set(found.curves) == {DECODER}


def test_the_same_grid_is_tried_for_all_and_stands_in_the_document(found):
    trials = found.search[DECODER]["trials"]
    assert set(plan.GRID) <= {trial["learning_rate"] for trial in trials}
    losses = {trial["learning_rate"]: trial["loss"] for trial in trials}
    alike = [rate for rate, loss in losses.items() if loss <= 1.02 * min(losses.values())]
    assert min(alike) == found.search[DECODER]["chosen"]
    assert {r.learning_rate for r in found.of(DECODER)} == {found.search[DECODER]["chosen"]}


def test_memory_is_at_least_weights_gradients_and_averages(found):
    for result in found.of(DECODER):
        assert result.memory >= 4 * 4 * result.parameters


def test_the_same_seeds_find_the_same(found):
    assert timeless(small()) == timeless(found)


def test_seeds_differ_and_keep_what_they_found_when_there_are_more(found):
    one, two = values_of(found, DECODER)
    assert one != two
    alone = small(seeds=1)
    assert values_of(alone, DECODER) == [one]
    assert alone.summary[DECODER]["loss"]["low"] is None
    assert "one seed" in alone.findings[0]


def test_what_a_model_finds_does_not_depend_on_who_else_takes_part(found):
    alone = small(models=[DECODER])
    assert timeless(alone)["results"] == timeless(found)["results"][1:]


def test_equal_seconds_end_when_they_are_over():
    found = small(budget={"parameters": 1500, "seconds": 0.05}, seeds=1)
    (result,) = found.of(DECODER)
    before = result.curve[-2].seconds if len(result.curve) > 1 else 0.0
    assert before < 0.05 <= result.seconds
    assert found.of("ngram")[0].tokens == int(len(TEXT) * 0.9)


def test_a_budget_that_cannot_be_met_is_refused_before_anything_is_trained(tmp_path):
    ears = Ears()
    with pytest.raises(ConfigurationError, match=f"{DECODER} cannot meet the budget of 50 "):
        small(budget={"parameters": 50, "tokens": 320}, listener=ears)
    assert not ears.begun_jobs


@pytest.mark.parametrize("tokens", [1, 31])
def test_a_budget_of_less_than_a_step_is_refused_before_anything_is_trained(tokens):
    ears = Ears()
    refused = rf"{DECODER} reads 32 .*\(4 rows of 8\).* has {tokens};"
    with pytest.raises(ConfigurationError, match=refused) as told:
        small(budget={"parameters": 1500, "tokens": tokens}, listener=ears)
    assert str(told.value).endswith("tokens=32 or more, or a smaller --batch or --context")
    assert not ears.begun_jobs


def test_a_budget_of_one_step_is_one_step():
    found = small(budget={"parameters": 1500, "tokens": 32}, seeds=1)
    assert [result.tokens for result in found.results] == [32, 32]


def test_a_task_has_no_context_that_could_be_smaller():
    with pytest.raises(ConfigurationError, match=r"the budget has 5; .* a smaller --batch$"):
        small_task(budget={"parameters": 2000, "tokens": 5})


def test_counting_takes_no_steps():
    found = small(models=["ngram"], budget={"parameters": 1500, "tokens": 10})
    assert found.results[0].tokens == 10


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"task": "chess"}, "text or one of recall"),
        ({"measure": "beauty"}, "bits_per_character, perplexity"),
        ({"measure": "accuracy"}, "bits_per_character, perplexity"),
        ({"settings": {"k": 3}}, "no settings"),
        ({"seeds": 0}, "seeds must be"),
        ({"batch": 0}, "batch must be"),
        ({"context": 0}, "context must be"),
        ({"tokenizer": "letters"}, "tokenizer must be one of"),
        ({"engine": "abacus"}, "engine must be one of"),
        ({"device": "cuda"}, "take --engine torch"),
        ({"resume": True}, "--out FOLDER"),
        ({"models": [DECODER, "decoder:tokenizer=words"], "measure": "perplexity"}, "per token"),
    ],
)
def test_what_cannot_be_is_refused_at_once(options, told):
    ears = Ears()
    with pytest.raises(ConfigurationError, match=told) as refusal:
        small(listener=ears, **options)
    assert "\n" not in str(refusal.value)
    assert not ears.begun_jobs


def test_a_text_is_refused_with_a_task():
    with pytest.raises(ConfigurationError, match="leave the text out"):
        small(task="recall", models=[DECODER])


def test_one_word_is_no_text():
    with pytest.raises(TextError, match="no file called"):
        small("shakespear")


def test_other_tokenizers_are_compared_in_bits_per_character():
    words = "decoder:layers=1:heads=2:tokenizer=words"
    found = small(models=[DECODER, words], seeds=1, budget={"parameters": 2500, "tokens": 320})
    assert [model["tokenizer"] for model in found.models] == ["characters", "words"]
    assert any("different tokenizers" in note for note in found.notes)


@pytest.mark.parametrize("after", [0, 1, 4, 7])
def test_stopped_anywhere_and_gone_on_with_it_is_the_same(tmp_path, found, after):
    folder = tmp_path / "study"
    with pytest.raises(StoppedError):
        small(folder=folder, listener=Ending(after))
    assert not (folder / "comparison.json").exists()
    ears = Ears()
    again = small(folder=folder, listener=ears)
    assert timeless(again) == timeless(found)
    assert len(ears.begun_jobs) == len(ears.ended_jobs) - after
    written = json.loads((folder / "comparison.json").read_text("utf-8"))
    assert Comparison.from_json(written) == again


def test_resume_needs_nothing_but_the_folder(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(TEXT, "utf-8")
    folder = tmp_path / "study"
    with pytest.raises(StoppedError):
        small(text, folder=folder, listener=Ending(3))
    again = compare(folder=folder, resume=True, why=False)
    assert timeless(again) == timeless(small(text))
    ears = Ears()
    assert (
        compare(folder=folder, resume=True, why=False, listener=ears) == again
    )  # to the last figure
    assert not ears.begun_jobs


def test_a_finished_comparison_is_read_and_not_done_again(tmp_path):
    folder = tmp_path / "study"
    first, ears = small(folder=folder), Ears()
    assert small(folder=folder, listener=ears) == first
    assert not ears.begun_jobs


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seeds": 3}, "its seeds are 2, here 3;"),
        (
            {"budget": {"parameters": 1500, "seconds": 0.5}},
            "its budget is parameters=1500,tokens=320, here parameters=1500,seconds=0.5;",
        ),
        ({"models": [DECODER]}, f"its models are ngram,{DECODER}, here {DECODER};"),
        ({"workers": 2}, "its workers are 1, here 2;"),
        ({"tokenizer": "words", "vocab": 30}, "its tokenizer is characters, here words;"),
        ({"vocab": 30}, "its vocab is as usual, here 30;"),
        ({"text": TEXT + "!"}, "on another text or task"),
    ],
)
def test_another_comparison_in_the_same_folder_is_refused(tmp_path, options, told):
    with pytest.raises(StoppedError):
        small(folder=tmp_path, listener=Ending(0))
    with pytest.raises(RunError, match=told):
        small(options.pop("text", TEXT), folder=tmp_path, **options)


def test_a_text_that_has_changed_is_refused(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text(TEXT, "utf-8")
    with pytest.raises(StoppedError):
        small(text, folder=tmp_path / "study", listener=Ending(0))
    text.write_text(TEXT + "more", "utf-8")
    with pytest.raises(RunError, match="has changed"):
        compare(folder=tmp_path / "study", resume=True)


def test_a_text_given_directly_must_be_given_again(tmp_path):
    with pytest.raises(StoppedError):
        small(folder=tmp_path / "study", listener=Ending(0))
    with pytest.raises(RunError, match="give it again"):
        compare(folder=tmp_path / "study", resume=True)
    assert compare(TEXT, folder=tmp_path / "study", resume=True, why=False).names == [
        "ngram",
        DECODER,
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "diary.txt").write_text("dear diary", "utf-8")
    with pytest.raises(RunError, match="holds other files"):
        small(folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_resuming_where_nothing_is_says_so(tmp_path):
    with pytest.raises(RunError, match="no comparison to go on with"):
        compare(folder=tmp_path / "nothing", resume=True)


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"format": 9}', b'{"format": 1, "plan": {}}'])
def test_a_damaged_plan_is_one_line(tmp_path, damage):
    with pytest.raises(StoppedError):
        small(folder=tmp_path, listener=Ending(0))
    (tmp_path / "plan.json").write_bytes(damage)
    with pytest.raises(RunError, match="damaged") as refusal:
        small(folder=tmp_path)
    assert "\n" not in str(refusal.value)


def test_two_at_once_are_refused(tmp_path):
    with pytest.raises(StoppedError):
        small(folder=tmp_path, listener=Ending(0))
    with RunLock(tmp_path), pytest.raises(RunError, match="in use: expected to compare there"):
        small(folder=tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_asked_to_stop_it_says_how_to_go_on(tmp_path):
    class Asking(Ears):
        def moved(self, job, share, seconds_left):
            if job.purpose == "trial":
                os.kill(os.getpid(), signal.SIGINT)

    text = tmp_path / "text.txt"
    text.write_text(TEXT, "utf-8")
    folder = tmp_path / "study"
    with pytest.raises(Interrupted, match=r"of \d+ parts; go on with: clearformer compare --resu"):
        small(text, folder=folder, listener=Asking())
    assert not (folder / "trials/02-decoder-trial-seed-0.json").exists()
    assert timeless(compare(folder=folder, resume=True, why=False)) == timeless(small(text))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_stopped_without_a_folder_it_says_that_nothing_was_kept():
    class Asking(Ears):
        def moved(self, job, share, seconds_left):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted, match="nothing was kept"):
        small(listener=Asking())


def test_a_task_is_ranked_by_right_answers():
    found = small_task()
    assert found.measure == "accuracy"
    assert found.task["settings"]["distance"] == 4
    assert found.text == {}
    assert found.task["chance"] == 1 / 8
    for result in found.results:
        assert 0 <= result.accuracy <= 1
        assert result.tokens >= 320


def test_counting_comes_near_the_entropy_of_a_source():
    found = small_task(
        "markov",
        models=["ngram:order=3"],
        settings={"symbols": 3, "order": 2},
        budget={"parameters": 2000, "tokens": 60_000},
    )
    assert found.measure == "bits_per_character"
    above = found.mean("ngram:order=3", "bits_per_character") - found.task["entropy"]
    assert abs(above) < 0.03
    assert "entropy of the source" in " ".join(found.findings)


def test_pairs_are_rows_to_what_predicts_the_next_token():
    found = small_task("copy", settings={"least": 1, "most": 3, "symbols": 3})
    assert found.task["answer"] == "row"
    assert found.measure == "accuracy"


@pytest.mark.skipif("seq2seq" not in KINDS, reason="no kind that learns from pairs is here")
def test_a_model_with_two_sides_reads_as_many_pairs_as_others_read_rows():
    found = small_task(
        "copy",
        models=[DECODER, "seq2seq", "seq2seq:attention=none"],
        settings={"least": 1, "most": 3, "symbols": 3},
        budget={"parameters": 3000, "tokens": 320},
        seeds=1,
    )
    assert len({result.tokens for result in found.results}) == 1
    for result in found.results:
        assert abs(result.parameters - 3000) <= 60
        assert 0 <= result.accuracy <= 1


def test_measures_by_the_clock_are_named_as_such():
    assert set(BY_CLOCK) < set(MEASURES)
