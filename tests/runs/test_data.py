"""Laws of training on a prepared text: it is training on the text."""

import json
import shutil
import tracemalloc

import pytest

import clearformer as cf
from clearformer.corpora.prepare import prepare
from clearformer.corpora.sizes import Sizes
from clearformer.errors import ConfigurationError, Interrupted, RunError, TextError
from clearformer.text import KINDS
from runs.tiny import DIALS, TEXT, StopAt, Told, change_configuration, files_in, refused

SIZES = Sizes(piece=64, block=100, shard=64, landmark=100)

pytestmark = pytest.mark.filterwarnings("ignore:.*not in this model's:UserWarning")


def prepared(text_file, out, **options):
    prepare(text_file, out, **{"workers": 1, "sizes": SIZES, **options})
    return out


@pytest.fixture
def data(tmp_path, text_file):
    """The small text, prepared."""
    return prepared(text_file, tmp_path / "data")


def model_file(run):
    return (run.path / "checkpoints" / "step-000012" / "model.safetensors").read_bytes()


def reached(run):
    return {
        name: run.summary[name]
        for name in ("train_loss", "validation_loss", "bits_per_character", "vocabulary", "notes")
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vocab", [None, 7])
def test_a_run_on_data_is_the_run_on_the_text(tmp_path, text_file, kind, vocab):
    if vocab and kind != "words":
        return
    data = prepared(text_file, tmp_path / "data", tokenizer=kind, vocab=vocab)
    one = cf.train(text_file, out=tmp_path / "one", tokenizer=kind, vocab=vocab, **DIALS)
    other = cf.train(data, out=tmp_path / "other", **DIALS)
    assert reached(one) == reached(other)
    assert model_file(one) == model_file(other)
    assert (one.path / "tokenizer.json").read_bytes() == (
        other.path / "tokenizer.json"
    ).read_bytes()
    assert one.evaluate() == other.evaluate() == one.evaluate(data) == other.evaluate(data)
    assert cf.load(other.path).evaluate() == one.evaluate()
    # the last one: earlier ones are left out where a busy machine makes evaluations dear
    samples = [(run.path / "samples.txt").read_text("utf-8") for run in (one, other)]
    assert samples[0].rpartition("=== step")[2] == samples[1].rpartition("=== step")[2] != ""


def test_it_can_be_named_in_every_way(tmp_path, data):
    runs = [
        cf.train(way, out=tmp_path / str(number), **DIALS)
        for number, way in enumerate([data, str(data), [data], [str(data)]])
    ]
    assert len({model_file(run) for run in runs}) == 1


def test_run_json_tells_where_the_data_is(tmp_path, data, text_file):
    run = cf.train(data, out=tmp_path / "run", **DIALS)
    corpus = json.loads((run.path / "run.json").read_text("utf-8"))["corpus"]
    assert corpus == {
        "data": str(data.resolve()),
        "sources": [str(text_file)],
        "files": [],
        "encoding": "utf-8",
        "characters": len(TEXT),
        "fingerprint": corpus["fingerprint"],
    }


def test_without_a_name_a_run_is_called_after_the_data(tmp_path, data, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cf.train("data", **DIALS).path.name == "data"


# Going on.


@pytest.fixture
def stopped(tmp_path, data):
    """A run on the data that was stopped after step 5 of 12."""
    with pytest.raises(Interrupted):
        cf.train(data, out=tmp_path / "run", reporter=StopAt(5), **DIALS)
    return tmp_path / "run"


def test_it_ends_where_an_uninterrupted_run_ends(tmp_path, stopped, data):
    whole = cf.train(data, out=tmp_path / "whole", **DIALS)
    assert model_file(cf.train(out=stopped, resume=True)) == model_file(whole)


def test_it_goes_on_with_the_text_as_well(tmp_path, stopped, data, text_file):
    whole = cf.train(data, out=tmp_path / "whole", **DIALS)
    assert model_file(cf.train(text_file, out=stopped, resume=True)) == model_file(whole)


def test_a_run_on_the_text_goes_on_with_data(tmp_path, text_file, data):
    with pytest.raises(Interrupted):
        cf.train(text_file, out=tmp_path / "run", reporter=StopAt(5), **DIALS)
    whole = cf.train(text_file, out=tmp_path / "whole", **DIALS)
    assert model_file(cf.train(data, out=tmp_path / "run", resume=True)) == model_file(whole)


def test_data_that_moved_can_be_named_again(stopped, data):
    moved = data.rename(data.with_name("moved"))
    message = refused(RunError, cf.train, out=stopped, resume=True)
    assert "is no prepared text" in message
    assert "name it yourself" in message
    assert cf.train(moved, out=stopped, resume=True).step == 12


def test_data_of_another_text_is_refused(tmp_path, stopped, data, text_file):
    text_file.write_text(TEXT + "x", "utf-8")
    shutil.rmtree(data)
    prepared(text_file, data)
    before = files_in(stopped)
    message = refused(RunError, cf.train, out=stopped, resume=True)
    assert "it has changed since, or is another" in message
    assert refused(RunError, cf.train, data, out=stopped, resume=True) == message
    assert files_in(stopped) == before


def test_data_of_another_tokenizer_is_refused(tmp_path, stopped, text_file):
    other = prepared(text_file, tmp_path / "other", tokenizer="words")
    message = refused(TextError, cf.train, other, out=stopped, resume=True)
    assert "holds the ids of another tokenizer" in message
    run = cf.train(out=stopped, resume=True)
    assert "holds the ids of another tokenizer" in refused(TextError, run.evaluate, other)


@pytest.mark.parametrize("value", [None, 7, [], {}, True])
def test_a_record_that_is_damaged_is_refused(stopped, value):
    change_configuration(stopped, lambda document: document["corpus"].update(data=value))
    assert "run.json is damaged" in refused(RunError, cf.train, out=stopped, resume=True)


# What cannot be.


def test_data_beside_a_text_is_refused(tmp_path, data, text_file):
    for names in ([data, text_file], [text_file, data], [data, data]):
        message = refused(TextError, cf.train, names, out=tmp_path / "run", **DIALS)
        assert "stands for itself; name it alone" in message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "options, told",
    [
        ({"tokenizer": "words"}, "was prepared with --tokenizer characters; got tokenizer=words"),
        ({"vocab": 99}, "was prepared with no --vocab; got vocab=99"),
        ({"encoding": "utf-16"}, "which have no encoding"),
    ],
    ids=str,
)
def test_options_of_another_preparation_are_refused(tmp_path, data, options, told):
    message = refused(ConfigurationError, cf.train, data, out=tmp_path / "run", **DIALS, **options)
    assert told in message
    assert not (tmp_path / "run").exists()


def test_the_options_it_was_prepared_with_may_be_named(tmp_path, text_file):
    data = prepared(text_file, tmp_path / "words", tokenizer="words", vocab=7)
    assert cf.train(data, out=tmp_path / "run", tokenizer="words", vocab=7, **DIALS).step == 12


def test_unfinished_data_is_refused(tmp_path, data):
    (data / "data.json").rename(data / "preparing.json")
    message = refused(TextError, cf.train, data, out=tmp_path / "run", **DIALS)
    assert "is not finished" in message


def test_a_damaged_shard_is_refused_before_anything_is_made(tmp_path, data):
    shard = data / "train-00000.ids"
    shard.write_bytes(shard.read_bytes()[:-1])
    message = refused(TextError, cf.train, data, out=tmp_path / "run", **DIALS)
    assert "train-00000.ids is damaged" in message
    assert not (tmp_path / "run").exists()


def test_short_data_is_told_as_a_short_text_is(tmp_path, text_file):
    text_file.write_text("abcde fghi" * 2, "utf-8")
    data = prepared(text_file, tmp_path / "data")
    told = [Told(), Told()]
    for reporter, text in zip(told, (text_file, data), strict=True):
        out = tmp_path / str(id(reporter))
        cf.train(text, out=out, reporter=reporter, **(DIALS | {"context": 64}))
    assert told[0].notes == told[1].notes != []


def test_the_memory_of_training_does_not_grow_with_the_data(tmp_path, text_file):
    peaks = []
    for times in (20, 400):
        text_file.write_text(TEXT * times, "utf-8")
        sizes = Sizes(piece=1 << 12, block=1 << 12, shard=1 << 14)
        data = prepared(text_file, tmp_path / str(times), sizes=sizes)
        tracemalloc.start()
        try:
            cf.train(data, out=tmp_path / f"run-{times}", **(DIALS | {"evaluations": 1}))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert text_file.stat().st_size > 200_000
    assert peaks[1] < peaks[0] + 50_000
