"""From one-hot rows to blocks: the exercise agrees with the library, odd answers are accepted."""

import math

import numpy as np
import pytest

import clearformer as cf
from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.catalogue import find
from clearformer.models.positions import rotary_turns


def given(name):
    """The arguments of every probe of an exercise that decides."""
    return [probe.arguments for probe in find(name).probes() if probe.role == "main"]


def test_one_hot_rows_are_the_librarys():
    for each in given("one_hot"):
        right = find("one_hot").version()(**each)
        np.testing.assert_array_equal(right, cf.one_hot(each["ids"], each["vocab_size"]))


def test_embedding_is_the_librarys_look_up():
    for each in given("embedding"):
        np.testing.assert_array_equal(find("embedding").version()(**each), ops.embed(**each))


def test_the_gradient_of_the_embedding_is_how_the_loss_changes():
    for each in given("embedding_gradient"):
        ids, grad = each["ids"], each["grad"]
        gradient = find("embedding_gradient").version()(**each)
        for place in np.ndindex(gradient.shape):
            step = np.zeros_like(gradient)
            step[place] = 1.0
            np.testing.assert_allclose(gradient[place], np.sum(ops.embed(ids, step) * grad))


def test_sinusoidal_positions_are_the_librarys():
    for each in given("positional_encoding"):
        expected = cf.sinusoidal_positions(each["n_positions"], each["d_model"])
        np.testing.assert_allclose(find("positional_encoding").version()(**each), expected)


def test_rotary_positions_are_the_librarys():
    each = given("rotary_positions")[0]
    turns = rotary_turns(5, 8)
    np.testing.assert_allclose(
        find("rotary_positions").version()(**each), ops.rotate(each["x"], turns), atol=1e-12
    )


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms_are_the_librarys(name):
    for each in given(name):
        arguments = list(each.values())
        expected = getattr(ops, name)(*arguments, *([] if "eps" in each else [1e-5]))
        np.testing.assert_allclose(find(name).version()(**each), expected, rtol=1e-9)


def test_gelu_is_pytorchs_exact_form():
    torch = pytest.importorskip("torch", reason="compares with PyTorch (extra torch)")
    for each in given("gelu"):
        expected = torch.nn.functional.gelu(torch.tensor(each["x"])).numpy()
        np.testing.assert_allclose(find("gelu").version()(**each), expected, atol=1e-12)


def one_hot_by_comparing(ids, vocab_size):
    return (np.asarray(ids)[:, None] == np.arange(vocab_size)).astype(np.float32)


def one_hot_by_loop(tokens, n):
    rows = np.zeros((len(tokens), n), int)
    for row, token in zip(rows, tokens, strict=True):
        row[token] = 1
    return rows


def embedding_by_product(ids, table):
    return np.eye(len(table))[ids] @ table


def gradient_by_product(ids, grad, vocab_size):
    return np.eye(vocab_size)[ids].T @ grad


def gradient_by_loop(ids, grad, vocab_size):
    out = np.zeros((vocab_size, grad.shape[1]))
    for token, g in zip(ids, grad, strict=True):
        out[token] += g
    return out


def positions_by_number(n_positions, d_model):
    out = np.empty((n_positions, d_model))
    for p in range(n_positions):
        for k in range(d_model):
            angle = p * math.exp(-math.log(10000.0) * (k - k % 2) / d_model)
            out[p, k] = math.cos(angle) if k % 2 else math.sin(angle)
    return out


def rotary_by_complex_numbers(x, positions):
    pairs = np.ascontiguousarray(x).reshape(*x.shape[:-1], -1, 2)
    numbers = pairs[..., 0] + 1j * pairs[..., 1]
    d = x.shape[-1]
    turned = numbers * np.exp(1j * np.outer(positions, 10000 ** (-np.arange(0, d, 2) / d)))
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


def layer_norm_by_moments(x, gamma, beta, eps=1e-5):
    middle = np.einsum("...d->...", x)[..., None] / x.shape[-1]
    square = np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
    return (x - middle) * (square - middle**2 + eps) ** -0.5 * gamma + beta


def rms_norm_by_length(x, g, eps=1e-5):
    size = np.linalg.norm(x, axis=-1, keepdims=True) / np.sqrt(x.shape[-1])
    return x / np.hypot(size, np.sqrt(eps)) * g


def gelu_by_list(x):
    flat = [v * 0.5 * math.erfc(-v / math.sqrt(2)) for v in x.ravel()]
    return np.array(flat).reshape(x.shape)


def feed_forward_by_token(x, w1, b1, w2, b2):
    return np.stack([gelu_by_list(row @ w1 + b1) @ w2 + b2 for row in x])


def pre_norm_by_parts(x, W_1, W_2):
    def norm(v):
        return (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)

    out = x.copy()
    for weights in (W_1, W_2):
        out += norm(out) @ weights
    return out


ODD = {
    "one_hot": [one_hot_by_comparing, one_hot_by_loop],
    "embedding": [embedding_by_product],
    "embedding_gradient": [gradient_by_product, gradient_by_loop],
    "positional_encoding": [positions_by_number],
    "rotary_positions": [rotary_by_complex_numbers],
    "layer_norm": [layer_norm_by_moments],
    "rms_norm": [rms_norm_by_length],
    "gelu": [gelu_by_list],
    "feed_forward": [feed_forward_by_token],
    "pre_norm_block": [pre_norm_by_parts],
}


@pytest.mark.parametrize(
    ("name", "answer"), [(name, each) for name, answers in ODD.items() for each in answers]
)
def test_a_right_answer_in_an_odd_style_is_right(name, answer):
    verdict = verdict_of(answer, find(name))
    assert verdict.kind == "right", verdict


def strange_layer_norm(x, gamma, beta, eps=1e-5):
    spread = np.abs(x - x.mean(-1, keepdims=True)).mean(-1, keepdims=True)
    return gamma * (x - x.mean(-1, keepdims=True)) / (spread + eps) + beta


def strange_positions(n_positions, d_model):
    return np.outer(np.arange(n_positions), np.linspace(0, 1, d_model))


def strange_gelu(x):
    return x * np.clip(x / 6 + 0.5, 0, 1)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("layer_norm", strange_layer_norm),
        ("positional_encoding", strange_positions),
        ("gelu", strange_gelu),
    ],
)
def test_a_mistake_of_no_known_kind_gets_no_name(name, answer):
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
