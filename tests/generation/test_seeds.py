"""The same seed gives the same text, also in another process; another seed another text."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from generation.runs import TEXTS, random_run


def texts_of_a_new_process(hash_seed):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONHASHSEED": hash_seed,
    }
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-m", "generation.runs"],
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_a_new_process_writes_the_same_text():
    here = {
        kind: random_run(kind, context=200).generate("", 40, seed=11, temperature=1.0)
        for kind in TEXTS
    }
    assert all(len(text) > 10 for text in here.values())
    assert texts_of_a_new_process("1") == here


@pytest.mark.parametrize("cached", [False, True])
def test_the_same_seed_gives_the_same_text(cached, unchecked):
    run = random_run(context=64)
    texts = [run.generate("the ", 40, seed=seed, cached=cached) for seed in (1, 1, 2, 3, 4)]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 4
    assert all(len(text) == 40 for text in texts)


def test_without_a_seed_every_text_is_new():
    run = random_run(context=64)
    assert run.generate("the ", 40) != run.generate("the ", 40)


def test_a_longer_text_begins_with_the_shorter_one():
    run = random_run(context=64)
    assert run.generate("the ", 50, seed=3).startswith(run.generate("the ", 20, seed=3))


def test_the_global_luck_is_neither_used_nor_moved():
    run = random_run(context=64)
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = run.generate("the ", 40, seed=1)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert run.generate("the ", 40, seed=1) == first


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigurationError, match="seed") as caught:
        random_run().generate("the ", 4, seed=-1)
    assert "-1" in str(caught.value)
