"""Runs of recurrent models on whatever a run can be trained on."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.corpora.prepare import prepare
from clearformer.errors import NotFiniteError
from runs.tiny import TEXT

SIZES = {"layers": 2, "embed": 8, "hidden": 7, "context": 8, "batch": 4, "steps": 12}


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, "utf-8")
    return path


def test_a_prepared_text_is_learned_from_as_one_in_memory(tmp_path, text):
    prepare([text], tmp_path / "data", workers=1)
    runs = [
        cf.train(source, out=tmp_path / name, model="lstm", **SIZES)
        for name, source in (("one", text), ("other", tmp_path / "data"))
    ]
    one, other = (run.summary for run in runs)
    for name in ("train_loss", "validation_loss", "bits_per_character"):
        assert one[name] == other[name]
    assert runs[1].evaluate().loss == other["validation_loss"]


def test_a_text_shorter_than_a_batch_is_learned_from(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("abcd" * 9, "utf-8")
    run = cf.train(path, out=tmp_path / "run", model="gru", **{**SIZES, "steps": 60})
    assert run.evaluate("abcd" * 5).perplexity < 3.5


def test_numbers_that_are_not_finite_stop_a_run_by_name(tmp_path, text):
    with pytest.raises(NotFiniteError, match="try a learning rate below"):
        cf.train(text, out=tmp_path / "run", model="lstm", **SIZES, learning_rate=1e11, clip=1e9)


def test_a_run_that_is_opened_is_the_one_that_was_trained(tmp_path, text):
    run = cf.train(text, out=tmp_path / "run", model="gru", reset="before", tied=True, **SIZES)
    again = cf.load(tmp_path / "run")
    assert again.configuration == run.configuration.completed
    ids = np.arange(10)[None]
    assert np.array_equal(again.model(ids), run.model(ids))
