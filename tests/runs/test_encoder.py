"""A run of an encoder: trained on both engines, resumed bit for bit, fills in blanks."""

import json

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, Interrupted, TextError
from clearformer.text.with_mask import MASK
from faults.tiny import DIALS, ENGINES, StopAt, fingerprint
from runs.tiny import TEXT, refused

ENCODER = DIALS | {"model": "encoder"}


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "tiny.txt"
    path.write_text(TEXT, "utf-8")
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Trained until it knows the text."""
    folder = tmp_path_factory.mktemp("encoder")
    (folder / "tiny.txt").write_text(TEXT * 2, "utf-8")
    return cf.train(
        folder / "tiny.txt", out=folder / "run", model="encoder", layers=2, heads=2, embed=32,
        context=16, batch=16, steps=400, learning_rate=0.01,
    )  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("dropout", "accumulation", "workers"), [(0.0, 1, 1), (0.2, 3, 2)])
def test_a_stopped_and_resumed_run_ends_as_an_uninterrupted_one(
    tmp_path, text_file, engine, dropout, accumulation, workers
):
    dials = ENCODER | {
        "engine": engine, "dropout": dropout, "accumulation": accumulation, "workers": workers,
    }  # fmt: skip
    cf.train(text_file, out=tmp_path / "whole", **dials)
    with pytest.raises(Interrupted):
        cf.train(text_file, out=tmp_path / "run", reporter=StopAt(5), **dials)
    with pytest.raises(Interrupted):
        cf.train(out=tmp_path / "run", resume=True, reporter=StopAt(17))
    cf.train(out=tmp_path / "run", resume=True)
    assert fingerprint(tmp_path / "run") == fingerprint(tmp_path / "whole")


@pytest.mark.skipif(len(ENGINES) < 2, reason="PyTorch is not installed (extra torch)")
def test_both_engines_learn_alike(tmp_path, text_file):
    losses = [
        cf.train(text_file, out=tmp_path / engine, engine=engine, **ENCODER).summary["train_loss"]
        for engine in ENGINES
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


def test_it_fills_in_what_is_missing(run):
    wanted = "the cat sat on the mat"
    assert run.generate("the c<mask>t sat o<mask> the mat", temperature=0) == wanted
    assert run.generate("t<mask><mask> cat s<mask>t on", temperature=0) == "the cat sat on"


def test_the_mask_surest_of_comes_first(run):
    """What is filled in first is read when the rest is filled in."""
    from clearformer.generation.fill import fill
    from clearformer.generation.sampling import Sampling

    ids = run.reader.encode("the <mask><mask>t <mask>at").tolist()
    options = {"mask": run.reader.mask, "context": 16,
               "sampling": Sampling(0.0), "rng": np.random.default_rng(0)}  # fmt: skip
    order = list(fill(run.model, ids, **options))
    assert sorted(place for place, _ in order) == [4, 5, 8]
    certain = {
        blank.position: blank.candidates[0][1] for blank in run.fill("the <mask><mask>t <mask>at")
    }
    assert order[0][0] == max(certain, key=lambda place: certain[place])


def test_a_text_longer_than_the_model_sees_is_filled_in_everywhere(run):
    text = TEXT[:200]
    gaps = [5, 60, 61, 130, 199]
    asked = "".join(MASK if n in gaps else letter for n, letter in enumerate(text))
    filled = run.generate(asked, temperature=0)
    assert len(filled) == len(text)
    assert all(filled[n] == letter for n, letter in enumerate(text) if n not in gaps)
    assert [blank.position for blank in run.fill(asked)] == gaps


def test_the_seed_decides_what_is_drawn(run):
    asked = f"the {MASK * 6} the"
    drawn = {run.generate(asked, temperature=2.0, seed=seed) for seed in range(20)}
    assert len(drawn) > 1
    assert run.generate(asked, temperature=2.0, seed=3) == run.generate(
        asked, temperature=2.0, seed=3
    )


def test_candidates_are_probabilities_the_likeliest_first(run):
    (blank,) = run.fill("the <mask>at sat", most=4)
    assert blank.position == 4
    shares = [share for _, share in blank.candidates]
    assert len(shares) == 4
    assert shares == sorted(shares, reverse=True)
    assert sum(share for _, share in run.fill("the <mask>at", most=1000)[0].candidates) == (
        pytest.approx(1, rel=1e-5)
    )


def test_a_mask_that_is_meant_literally_stays(run):
    with pytest.warns(UserWarning, match="not in this model's vocabulary"):
        assert run.generate(r"the \<mask> c<mask>t", temperature=0).startswith("the <mask> c")


def test_what_cannot_be_is_refused(run, tmp_path, text_file):
    assert "expected <mask> in the text" in refused(TextError, run.generate, "the cat")
    assert "expected <mask> in the text" in refused(TextError, run.fill, "")
    assert "a text is a string" in refused(ConfigurationError, run.fill, 3)
    assert "most must be" in refused(ConfigurationError, run.fill, "<mask>", most=0)
    decoder = cf.train(text_file, out=tmp_path / "decoder", **DIALS | {"steps": 1})
    assert "fills in nothing" in refused(ConfigurationError, decoder.fill, "<mask>")
    assert "has no masked" in refused(
        ConfigurationError, cf.train, text_file, out=tmp_path / "no", masked=0.2
    )


def test_loading_gives_the_same_model_on_every_engine(run):
    asked = "the <mask>at sat"
    for engine in ENGINES:
        (blank,) = cf.load(run.path, engine=engine).fill(asked)
        for (token, share), (wanted, wanted_share) in zip(
            blank.candidates, run.fill(asked)[0].candidates, strict=True
        ):
            assert token == wanted
            assert share == pytest.approx(wanted_share, rel=1e-3, abs=1e-6)


def test_the_log_and_the_samples_tell_of_masks(run):
    lines = [json.loads(line) for line in (run.path / "log.jsonl").read_text("utf-8").splitlines()]
    judged = [line for line in lines if "validation_loss" in line]
    assert 0 <= judged[-1]["accuracy"] <= 1
    samples = (run.path / "samples.txt").read_text("utf-8")
    assert MASK in samples
    assert "as in the text)" in samples
    assert run.evaluate().accuracy == pytest.approx(judged[-1]["accuracy"], abs=0.05)


@pytest.mark.parametrize("tokenizer", ["words", "bytepair"])
def test_other_tokenizers_fill_in_too(tmp_path, text_file, tokenizer):
    trained = cf.train(text_file, out=tmp_path / "run", tokenizer=tokenizer, **ENCODER)
    filled = trained.generate("the <mask> sat on <mask> mat", temperature=0)
    assert filled.startswith("the")
    assert filled.endswith(" mat")
    assert MASK not in filled
