"""What a record says of an answer, whichever way it is called."""

import functools
import importlib
import random
import sys
import threading
import warnings

import numpy as np
import pytest

from checking.running.double import EXERCISE as DOUBLE
from checking.running.teachers import ATTENTION, CACHE, CLIP, LOSS, attention, softmax
from clearformer.checking.record import Style
from clearformer.checking.running.clock import TookTooLongError, limit
from clearformer.checking.running.flatten import flatten
from clearformer.checking.running.here import try_here
from clearformer.checking.running.probes import all_probes


def assert_right(record, exercise):
    """Every probe gave what the reference gives for the arguments that judging will see."""
    assert record.failure is None
    tolerance = {"numpy": 1e-6, "torch": 1e-4}[record.style.library]
    for probe in all_probes(exercise, record.style):
        right, _ = flatten(exercise.version()(**probe.arguments), exercise.returns)
        outcome = record.outcomes[probe.name]
        if probe.role == "clue" and outcome.skipped:  # a flag that the answer need not take
            continue
        assert outcome.values is not None, (probe.name, outcome)
        assert outcome.repeats and not outcome.changed and outcome.foreign is None
        assert outcome.values.keys() == right.keys()
        for name, value in right.items():
            np.testing.assert_allclose(outcome.values[name], value, tolerance, tolerance)


def batched_only(x, wq, wk, wv, causal=True):
    _, _, _ = x.shape
    return attention(None, x, wq, wk, wv, causal)


def with_torch(x, wq, wk, wv, mask=True):
    import torch

    assert isinstance(x, torch.Tensor) and x.dtype == torch.float32
    return torch.nn.functional.scaled_dot_product_attention(x @ wq, x @ wk, x @ wv, is_causal=mask)


def with_torch_batched(x, wq, wk, wv, mask=True):
    _, _, _ = x.size()
    return with_torch(x, wq, wk, wv, mask)


def in_loops(X, W_Q, W_K, W_V, masked=True):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    rows = []
    for t in range(len(X)):
        seen = t + 1 if masked else len(X)
        rows.append(softmax(K[:seen] @ Q[t] / np.sqrt(Q.shape[1])) @ V[:seen])
    return np.stack(rows)


@pytest.mark.parametrize(
    ("answer", "style"),
    [
        (functools.partial(attention, None), Style()),
        (batched_only, Style(batched=True)),
        (lambda *args, **named: attention(None, *args, **named), Style()),
        (lambda X, W_Q, *, W_K, W_V, masked: attention(None, X, W_Q, W_K, W_V, masked), Style()),
    ],
)
def test_an_answer_is_called_in_the_style_it_wants(answer, style):
    record = try_here(answer, ATTENTION)
    assert record.style == style
    assert_right(record, ATTENTION)


@pytest.mark.parametrize(("answer", "batched"), [(with_torch, False), (with_torch_batched, True)])
def test_a_file_that_has_pytorch_gets_tensors(answer, batched):
    torch = pytest.importorskip("torch")
    names = dict(answer.__globals__, torch=torch)
    own = type(answer)(answer.__code__, names, argdefs=answer.__defaults__)
    names["with_torch"] = type(answer)(with_torch.__code__, names, argdefs=(True,))
    record = try_here(own, ATTENTION)
    assert record.style == Style("torch", batched)
    assert_right(record, ATTENTION)


def test_a_numpy_function_beside_pytorch_gets_arrays():
    torch = pytest.importorskip("torch")
    names = {"np": np, "torch": torch}
    exec("def double(x):\n    return np.multiply(x, 2)", names)
    record = try_here(names["double"], DOUBLE)
    assert record.style == Style()
    assert_right(record, DOUBLE)


def test_an_answer_without_batches_is_right_but_for_the_stress():
    record = try_here(in_loops, ATTENTION)
    bad = [name for name, each in record.outcomes.items() if each.raised or each.values is None]
    assert record.style == Style() and bad in ([], ["batched"])


def test_values_come_by_name():
    def step(x, cache, W):
        K = np.concatenate([cache["K"], x @ W])
        return K.sum(0, keepdims=True), {"K": K, "more": None}, "and more"

    assert_right(try_here(step, CACHE), CACHE)

    def clipped(grads, max_norm):
        norm = np.sqrt(sum(np.sum(each**2) for each in grads))
        return [each * min(1, max_norm / norm) for each in grads], norm

    assert_right(try_here(clipped, CLIP), CLIP)
    assert_right(try_here(lambda *args: tuple(clipped(*args)[0]), CLIP), CLIP)


def test_a_number_may_be_of_any_kind():
    def loss(logits, targets):
        picked = softmax(logits)[np.arange(len(targets)), targets]
        return -np.log(picked).mean()

    for kind in (float, np.asarray, np.float32, lambda value: (value, "and more")):
        assert try_here(lambda *args, kind=kind: kind(loss(*args)), LOSS).outcomes["5 of 7"].values[
            "output"
        ] == pytest.approx(loss(**LOSS.probes()[0].arguments), rel=1e-6)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "nothing (None)"),
        ("text", "a text"),
        (print, "a builtin_function_or_method"),
        ([[1], [2, 3]], "a list that is not a table of numbers"),
        (np.array(["a"]), "an array of text"),
        (np.array([None]), "an array of objects"),
        ({"output": 1}, "a dict"),
        (range(3), "a range"),
    ],
)
def test_what_is_no_array_is_unusable(value, what):
    outcome = try_here(lambda x: value, DOUBLE).outcomes["4 rows"]
    assert (outcome.values, outcome.raised) == (None, None)
    assert outcome.unusable.en.removesuffix(", expected array") == what
    assert outcome.unusable.ja


def test_a_list_or_a_tensor_is_foreign_but_kept():
    torch = pytest.importorskip("torch")
    for wrap, what in (
        (lambda x: (2 * x).tolist(), "a list"),
        (lambda x: [row + row for row in x], "a list"),
        (lambda x: torch.from_numpy(2 * x), "a torch.Tensor"),
    ):
        outcome = try_here(wrap, DOUBLE).outcomes["4 rows"]
        assert outcome.foreign.en == what
        np.testing.assert_allclose(
            outcome.values["output"], 2 * DOUBLE.probes()[0].arguments["x"], 1e-6
        )


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    y = x\n    y *= 2  # here\n    return y",
        "def f(x):\n    g(x)\n    return x\ndef g(y):\n    y[0] = 1  # here",
        "def f(x):\n    for i in range(3):\n        x[:, i] += h()  # here\n    return x\n"
        "def h():\n    return 2",
        "def f(x):\n    return np.multiply(x, 2, out=x)  # here",
        "def f(x):\n    x.sort()  # here\n    raise ValueError",
        "def f(x):\n    return list(map(lambda row: row.fill(3), x))  # here",
    ],
)
def test_an_argument_written_into_has_its_line(code, tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(code)
    names = {"np": np}
    exec(compile(code, str(file), "exec"), names)
    (changed,) = try_here(names["f"], DOUBLE).outcomes["5 rows"].changed
    assert changed.argument == "x"
    assert changed.source.endswith("# here")
    assert code.splitlines()[changed.line - 1].strip() == changed.source


def test_a_cache_may_be_written_into_if_the_exercise_says_so():
    def step(x, cache, W):
        cache["K"] = np.concatenate([cache["K"], x @ W])
        return cache["K"].sum(0, keepdims=True), cache

    assert_right(try_here(step, CACHE), CACHE)


def test_a_tensor_written_into_has_its_line():
    torch = pytest.importorskip("torch")
    names = {"torch": torch}
    exec("def f(x):\n    x.mul_(2)\n    return x", names)
    record = try_here(names["f"], DOUBLE)
    assert record.style.library == "torch"
    assert [each.line for each in record.outcomes["4 rows"].changed] == [2]


def test_two_calls_that_differ_do_not_repeat():
    kept = []

    def remembers(x):
        kept.append(x)
        return x + kept[0].sum() + len(kept)

    random_one = lambda x: x * (np.random.rand(*x.shape) > 0.5)  # noqa: E731, NPY002
    generator = lambda x: x + np.random.default_rng().normal()  # noqa: E731
    for answer in (remembers, random_one, generator):
        outcomes = try_here(answer, DOUBLE).outcomes.values()
        assert not any(outcome.repeats for outcome in outcomes)


def test_what_was_kept_of_another_call_shows():
    kept = {}

    def caches(x):
        return 2 * kept.setdefault("x", x)

    outcomes = try_here(caches, DOUBLE).outcomes
    assert outcomes["5 rows"].values["output"].shape == (4, 3)  # the values of the first call


def test_the_same_answer_gives_the_same_record_whatever_the_luck():
    def answer(x):
        return x * (np.random.rand(*x.shape) > 0.5) * random.random()  # noqa: NPY002

    first = try_here(answer, DOUBLE).outcomes["4 rows"].values["output"]
    np.random.seed(5)  # noqa: NPY002
    random.seed(5)
    np.testing.assert_array_equal(
        first, try_here(answer, DOUBLE).outcomes["4 rows"].values["output"]
    )


def test_random_generators_are_put_back():
    random.seed(3)
    expected = random.random()
    random.seed(3)
    try_here(lambda x: 2 * x * random.random(), DOUBLE)
    assert random.random() == expected


def test_warnings_are_caught_with_their_line():
    def overflows(x):
        y = np.exp(x * 1e6)
        return y.mean() + x

    outcome = try_here(overflows, DOUBLE).outcomes["4 rows"]
    lines = {each.line - overflows.__code__.co_firstlineno for each in outcome.warned}
    assert "RuntimeWarning: overflow encountered in exp" in [w.message for w in outcome.warned]
    assert 1 in lines

    def warns(x):
        for place in range(100):
            warnings.warn(f"no. {place}", stacklevel=2)
        return x

    assert len(try_here(warns, DOUBLE).outcomes["4 rows"].warned) == 8


def test_prints_are_kept_and_nobody_answers():
    def asks(x):
        print("hello")
        return 2 * x if input("?") else x

    record = try_here(asks, DOUBLE)
    assert record.printed.startswith("hello\n") and {"prints", "not-contained"} <= set(record.notes)
    assert record.outcomes["4 rows"].raised.kind == "EOFError"


def test_ctrl_c_goes_through():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        try_here(interrupted, DOUBLE)


@pytest.mark.parametrize("main", [True, False])
def test_a_loop_in_python_ends_by_itself_in_any_thread(main):
    def spin():
        with pytest.raises(TookTooLongError), limit(0.1):
            caught = 0
            while True:
                try:
                    while True:
                        pass
                except BaseException:  # swallowed twice, so that it has to come again
                    caught += 1
                    if caught == 3:
                        raise
        ended.append(True)

    ended = []
    if main:
        spin()
    else:
        thread = threading.Thread(target=spin)
        thread.start()
        thread.join(60)
    assert ended


@pytest.mark.parametrize(
    "answer",
    [
        lambda X: X,
        lambda X, W_Q, W_K: X,
        lambda X, W_Q, W_K, W_V, masked, more: X,
        lambda X, W_Q, W_K, W_V, *, temperature: X,
        lambda: 3,
    ],
)
def test_other_parameters_are_a_failure_that_says_what_was_expected(answer):
    record = try_here(answer, ATTENTION)
    assert record.failure.kind == "signature" and not record.outcomes
    assert "(X, W_Q, W_K, W_V, masked=True)" in record.failure.message.en


def test_what_is_no_function_is_a_failure():
    assert try_here(3, ATTENTION).failure.kind == "missing"


def test_a_probe_that_the_parameters_cannot_take_is_skipped():
    def always(X, W_Q, W_K, W_V, return_weights=False):
        return attention(None, X, W_Q, W_K, W_V)

    outcomes = try_here(always, ATTENTION).outcomes
    assert [name for name, each in outcomes.items() if each.skipped] == [
        "not masked",
        "changed masked",
    ]


def test_another_default_is_told_and_the_exercises_is_given():
    def other(X, W_Q, W_K, W_V, masked=False):
        return attention(None, X, W_Q, W_K, W_V, masked)

    record = try_here(other, ATTENTION)
    assert_right(record, ATTENTION)
    assert "other-default:masked=False" in record.notes


@pytest.mark.parametrize("rest", ["causal=True", "is_causal=True", "mask", "dropout=0.0, causal=1"])
def test_a_parameter_with_a_default_has_many_names(rest):
    name = rest.split("=")[0] if "," not in rest else "causal"
    names = {"attention": attention}
    exec(f"def f(q, w, e, r, {rest}): return attention(None, q, w, e, r, {name})", names)
    assert_right(try_here(names["f"], ATTENTION), ATTENTION)


@pytest.mark.parametrize("main", [True, False])
def test_what_is_being_imported_when_time_is_up_may_come_to_its_end(main, tmp_path, monkeypatch):
    (tmp_path / "loads_slowly.py").write_text("import time\ntime.sleep(0.3)\nDONE = True\n")
    monkeypatch.syspath_prepend(tmp_path)

    def load():
        with limit(0.1):
            ended.append(importlib.import_module("loads_slowly"))

    ended = []
    monkeypatch.delitem(sys.modules, "loads_slowly", raising=False)
    if main:
        load()
    else:
        thread = threading.Thread(target=load)
        thread.start()
        thread.join()
    assert ended and ended[0].DONE
