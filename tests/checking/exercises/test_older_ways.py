"""Recurrent steps and pairs: the exercise agrees with PyTorch and the library; odd answers pass."""

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.catalogue import find


def given(name):
    """The arguments of every probe of an exercise that decides."""
    return [probe.arguments for probe in find(name).probes() if probe.role == "main"]


def test_a_recurrent_layer_is_the_librarys_operation():
    for each in given("rnn_forward"):
        expected, _ = ops.rnn(each["X"][None], each["h0"][None], *list(each.values())[2:])
        np.testing.assert_allclose(find("rnn_forward").version()(**each), expected[0], atol=1e-12)


def test_back_propagation_through_time_agrees_with_finite_differences():
    forward = find("rnn_forward").version()
    for arguments in given("rnn_backward"):
        each = dict(arguments)
        dH = each.pop("dH")
        gradients = find("rnn_backward").version()(**each, dH=dH)
        for name, gradient in zip(("W_xh", "W_hh", "b"), gradients, strict=True):
            for place in np.ndindex(gradient.shape):
                ends = []
                for sign in (1, -1):
                    moved = each[name].copy()
                    moved[place] += sign * 1e-5
                    ends.append(np.sum(forward(**{**each, name: moved}) * dH))
                np.testing.assert_allclose(gradient[place], (ends[0] - ends[1]) / 2e-5, atol=1e-7)


def test_an_lstm_step_is_the_librarys_operation():
    for each in given("lstm_step"):
        x, h, c, W, U, b = each.values()
        _, hidden, cell = ops.lstm(x[None, None], h[None], c[None], W, U, b)
        mine = find("lstm_step").version()(**each)
        np.testing.assert_allclose(mine, (hidden[0], cell[0]), atol=1e-12)


@pytest.mark.parametrize("reset", ["before", "after"])
def test_a_gru_step_is_the_librarys_operation(reset):
    exercise = find("gru_step")
    changes = [each.change for each in exercise.variants if each.key == f"gru-reset-{reset}"]
    for each in given("gru_step"):
        W, U, b = (
            np.concatenate([each[f"{kind}{gate}"] for gate in "rzn"], -1)
            for kind in ("W", "U", "b")
        )
        _, hidden = ops.gru(each["x"][None, None], each["h"][None], W, U, b, reset=reset)
        np.testing.assert_allclose(exercise.version(*changes)(**each), hidden[0], atol=1e-12)


def test_the_loss_of_skip_gram_is_that_of_its_definition():
    for each in given("skipgram_loss"):
        v, u = each["W_in"][each["center"]], each["W_out"]
        share = 1 / (1 + np.exp(-u @ v))
        expected = -np.log(share[each["context"]]) - sum(
            np.log(1 - share[word]) for word in each["negatives"]
        )
        np.testing.assert_allclose(find("skipgram_loss").version()(**each), expected)


def rnn_by_columns(X, h0, Wx, Wh, b):
    h, out = h0[:, None], []
    for x in X:
        h = np.tanh(Wx.T @ x[:, None] + Wh.T @ h + b[:, None])
        out.append(h[:, 0])
    return np.array(out)


def rnn_all_inputs_at_once(X, h0, W_xh, W_hh, b):
    Z = X @ W_xh + b
    H = np.empty_like(Z)
    for t in range(len(X)):
        H[t] = np.tanh(Z[t] + (H[t - 1] if t else h0) @ W_hh)
    return H, H[-1]


def lstm_of_one_matrix(x, h, c, W, U, b):
    z = np.concatenate([x, h], -1) @ np.vstack([W, U]) + b
    n = c.shape[-1]
    s = 0.5 * (1 + np.tanh(0.5 * z))
    c = s[..., n : 2 * n] * c + s[..., :n] * np.tanh(z[..., 2 * n : 3 * n])
    return {"h": s[..., 3 * n :] * np.tanh(c), "c": c}


def gru_by_difference(x, h, Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn):
    def s(v):
        return np.exp(v) / (1 + np.exp(v))

    n = np.tanh(x @ Wn + (h * s(x @ Wr + h @ Ur + br)) @ Un + bn)
    return n + s(x @ Wz + h @ Uz + bz) * (h - n)


def attention_by_loop(dec_h, enc_H):
    e = [np.exp(np.dot(dec_h, each)) for each in enc_H]
    w = np.array(e) / sum(e)
    return sum(a * each for a, each in zip(w, enc_H, strict=True)), w


def attention_of_batches(dec_h, enc_H):
    B = len(enc_H)
    e = np.einsum("bd,bsd->bs", dec_h, enc_H)
    w = np.exp(e - e.max(1).reshape(B, 1))
    w = w / w.sum(1).reshape(B, 1)
    return np.einsum("bs,bsd->bd", w, enc_H), w


def padded_by_slicing(dec_h, enc_H, lengths):
    C, A = np.zeros_like(dec_h), np.zeros(enc_H.shape[:2])
    for b, n in enumerate(lengths):
        e = np.exp(enc_H[b, :n] @ dec_h[b])
        A[b, :n] = e / e.sum()
        C[b] = A[b] @ enc_H[b]
    return C, A


def forcing_by_lists(y, sos_id, eos_id):
    return np.array([sos_id, *y]), np.array([*y, eos_id])


def skipgram_with_one_product(center, context, negatives, W_in, W_out):
    ids = np.append(context, negatives)
    sign = np.where(np.arange(len(ids)) == 0, 1, -1)
    return float(np.log1p(np.exp(-sign * (W_out[ids] @ W_in[center]))).sum())


ODD = {
    "rnn_forward": [rnn_by_columns, rnn_all_inputs_at_once],
    "lstm_step": [lstm_of_one_matrix],
    "gru_step": [gru_by_difference],
    "seq2seq_attention": [attention_by_loop, attention_of_batches],
    "padded_attention": [padded_by_slicing],
    "teacher_forcing": [forcing_by_lists],
    "skipgram_loss": [skipgram_with_one_product],
}


@pytest.mark.parametrize(
    ("name", "answer"), [(name, each) for name, answers in ODD.items() for each in answers]
)
def test_a_right_answer_in_an_odd_style_is_right(name, answer):
    assert verdict_of(answer, find(name)).kind == "right"


def test_the_order_of_an_lstms_gates_is_read_off():
    def onnx_order(x, h, c, W, U, b):
        i, o, f, g = np.split(x @ W + h @ U + b, 4, -1)
        i, o, f = (1 / (1 + np.exp(-each)) for each in (i, o, f))
        c = f * c + i * np.tanh(g)
        return o * np.tanh(c), c

    verdict = verdict_of(onnx_order, find("lstm_step"))
    assert verdict.mistakes == ["lstm-gate-order"]
    assert "i, o, f, g" in verdict.findings[0].evidence.en


def test_a_gru_of_no_known_kind_gets_no_name():
    def minimal(x, h, Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn):
        z = 1 / (1 + np.exp(-(x @ Wz + bz)))
        return (1 - z) * (x @ Wn + bn) + z * h

    verdict = verdict_of(minimal, find("gru_step"))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
