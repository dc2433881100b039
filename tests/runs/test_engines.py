"""One run, two engines: trained on one, it loads, writes, is judged and explained on the other."""

import json
from itertools import product

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from engines.runners import needs_torch
from runs.tiny import DIALS, TEXT, refused

pytestmark = needs_torch

ENGINES = ("numpy", "torch")

HOW = {
    "numpy": {"engine": "numpy"},
    "torch": {"engine": "torch", "device": "cpu", "precision": "float32"},
}
"""In bfloat16 a run is another one."""

RECIPES = ("modern", "classic")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of each recipe on each engine, long enough to prefer some words to others."""
    folder = tmp_path_factory.mktemp("trained")
    (folder / "tiny.txt").write_text(TEXT, "utf-8")
    for engine, recipe in product(ENGINES, RECIPES):
        dials = {**DIALS, "layers": 2, "steps": 20, "recipe": recipe}
        cf.train(folder / "tiny.txt", out=folder / engine / recipe, **HOW[engine], **dials)
    return folder


@pytest.fixture(params=[*product(ENGINES, RECIPES)], ids=" ".join)
def pair(request, trained):
    """A run, opened on the engine that trained it and on the other."""
    engine, recipe = request.param
    other = ENGINES[1 - ENGINES.index(engine)]
    found = [cf.load(trained / engine / recipe, engine=each) for each in (engine, other)]
    assert [run.engine for run in found] == [engine, other]
    return found


@pytest.mark.filterwarnings("ignore:this model sees:UserWarning")
@pytest.mark.parametrize(
    "how", [{"temperature": 0.0}, {"seed": 3, "cached": False}, {"seed": 4, "top_p": 0.9}]
)
def test_both_write_the_same_text(pair, how):
    """Also where it is drawn: both draw with NumPy's luck, from shares equal to about 1e-6.

    So another token is chosen with a chance of about 1e-6, and which it is here does not change.
    """
    texts = [run.generate("the ", 40, **how) for run in pair]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 40


def test_both_measure_the_same_loss(pair):
    for text in (None, "the dog sat on the cat. " * 9):
        one, other = (run.evaluate(text) for run in pair)
        assert other.loss == pytest.approx(one.loss, abs=1e-5)
        assert other.tokens == one.tokens


@pytest.mark.parametrize(
    "edits",
    [
        (),
        ("blocks.0.attention.mixed=0",),
        ("blocks.1.attention.scores[0,2,0]=-inf",),
        ("blocks.1.feed_forward.hidden=0.5", "embedding[0,3]=0.25"),
        ("ids[1]=2",),
    ],
    ids=str,
)
def test_both_explain_every_step_alike(pair, edits):
    one, other = (run.explain("the cat", edits=edits) for run in pair)
    assert [stage.name for stage in one] == [stage.name for stage in other]
    for mine, theirs in zip(one, other, strict=True):
        assert mine.axes == theirs.axes
        if mine.values.dtype == object:
            assert (mine.values == theirs.values).all()
        else:
            assert mine.values.dtype == theirs.values.dtype
            np.testing.assert_allclose(theirs.values, mine.values, 1e-5, 1e-5, err_msg=mine.name)
    assert [token for token, _ in one.next] == [token for token, _ in other.next]


def test_what_if_is_asked_on_the_engine_of_the_run(pair):
    one, other = (
        run.explain("the cat").what_if({"blocks.0.attention.weights": 0.0}) for run in pair
    )
    for mine, theirs in zip(one, other, strict=True):
        if mine.values.dtype != object:
            np.testing.assert_allclose(theirs.values, mine.values, 1e-5, 1e-5, err_msg=mine.name)


def test_what_a_training_gives_back_is_in_arrays_and_writes(trained):
    run = cf.train(TEXT, out=trained / "given back", **HOW["torch"], **(DIALS | {"steps": 2}))
    assert run.engine == "numpy"
    assert {type(p) for p in run.model.parameters().values()} == {np.ndarray}
    assert len(run.generate("the", 3, seed=0)) == 3


def test_an_engine_that_is_not_there_is_refused_before_anything_is_read(tmp_path):
    for how in ({"engine": "abacus"}, {"engine": "torch", "device": "tpu"}):
        message = refused(ConfigurationError, cf.load, tmp_path / "none", **how)
        assert "must be one of" in message
    assert "numpy has device cpu only" in refused(
        ConfigurationError, cf.load, tmp_path / "none", device="cuda"
    )


def versions(folder):
    return json.loads((folder / "run.json").read_text("utf-8"))["versions"]


def test_run_json_tells_with_what_it_was_trained(trained):
    import torch

    assert versions(trained / "torch" / "modern")["torch"] == torch.__version__
    assert "torch" not in versions(trained / "numpy" / "modern")
