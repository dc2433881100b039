"""Several heads, another text, a cache: held equal to the library; odd answers are accepted."""

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.catalogue import find
from clearformer.models.scaled_dot_product import attention


def given(name):
    """The arguments of every probe of an exercise that decides."""
    return [probe.arguments for probe in find(name).probes() if probe.role == "main"]


def test_heads_are_split_and_merged_as_the_library_does():
    for each in given("split_heads"):
        heads = find("split_heads").version()(**each)
        np.testing.assert_array_equal(heads, ops.split_heads(each["X"], each["n_heads"]))
        np.testing.assert_array_equal(find("merge_heads").version()(heads), each["X"])
        batch = find("split_heads").version()(np.stack([each["X"]] * 2), each["n_heads"])
        np.testing.assert_array_equal(batch[1], heads)


@pytest.mark.parametrize("batch", [(), (2,)])
def test_multi_head_attention_is_the_librarys(batch):
    for each in given("multi_head_attention"):
        X = each["X"] * np.linspace(1, 2, *batch)[:, None, None] if batch else each["X"]
        Q, K, V = (
            ops.split_heads(ops.linear(X, each[name]), each["n_heads"])
            for name in ("W_Q", "W_K", "W_V")
        )
        heads = attention(Q, K, V, causal=each.get("masked", True))
        expected = ops.linear(ops.merge_heads(heads), each["W_O"])
        output = find("multi_head_attention").version()(**{**each, "X": X})
        np.testing.assert_allclose(output, expected, rtol=1e-8)


def test_multi_head_attention_is_pytorchs():
    torch = pytest.importorskip("torch", reason="compares with PyTorch (extra torch)")
    each = given("multi_head_attention")[0]
    C = each["X"].shape[-1]
    module = torch.nn.MultiheadAttention(C, each["n_heads"], bias=False, dtype=torch.float64)
    weights = [torch.tensor(each[name].T.copy()) for name in ("W_Q", "W_K", "W_V")]
    module.in_proj_weight.data = torch.cat(weights)
    module.out_proj.weight.data = torch.tensor(each["W_O"].T.copy())
    X = torch.tensor(each["X"])
    future = torch.ones(len(X), len(X)).triu(1).bool()
    expected = module(X, X, X, attn_mask=future, need_weights=False)[0].detach().numpy()
    np.testing.assert_allclose(find("multi_head_attention").version()(**each), expected, rtol=1e-8)


def test_cross_attention_is_the_librarys():
    for each in given("cross_attention"):
        X, memory, W_Q, W_K, W_V = each.values()
        expected = attention(X @ W_Q, memory @ W_K, memory @ W_V)
        np.testing.assert_allclose(find("cross_attention").version()(**each), expected)


def test_steps_and_prefills_are_rows_of_one_causal_pass():
    each = given("self_attention")[0]
    X, weights = each["X"], {name: each[name] for name in ("W_Q", "W_K", "W_V")}
    whole = find("self_attention").version()(**each)
    empty = {"K": np.zeros((0, weights["W_K"].shape[1])), "V": np.zeros((0, whole.shape[1]))}
    cache = empty
    for x, row in zip(X, whole, strict=True):
        out, cache = find("kv_cache_step").version()(x, cache, **weights)
        np.testing.assert_allclose(out, row, rtol=1e-9)
    cache, rows = empty, []
    for part in (X[:2], X[2:]):
        out, cache = find("kv_cache_prefill").version()(part, cache, **weights, P=0 * X)
        rows.append(out)
    np.testing.assert_allclose(np.concatenate(rows), whole, rtol=1e-9)
    assert cache["K"].shape == (len(X), weights["W_K"].shape[1])


def softmax(s, axis=-1):
    e = np.exp(s - s.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def heads_by_lists(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1), axis=-3)


def heads_side_by_side(heads):
    return np.concatenate(list(heads), axis=-1)


def multi_head_by_loop(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    T, C = X.shape
    d = C // n_heads
    total = np.zeros((T, C))
    for h in range(n_heads):
        part = slice(h * d, (h + 1) * d)
        q, k, v = X @ W_Q[:, part], X @ W_K[:, part], X @ W_V[:, part]
        for t in range(T):
            seen = t + 1 if masked else T
            total[t] += softmax(k[:seen] @ q[t] / d**0.5) @ v[:seen] @ W_O[part]
    return total


def multi_head_by_einsum(X, W_Q, W_K, W_V, W_O, n_heads, causal=True):
    cut = [W.reshape(len(W), n_heads, -1) for W in (W_Q, W_K, W_V)]
    q, k, v = (np.einsum("...tc,chd->...thd", X, W) for W in cut)
    s = np.einsum("...thd,...shd->...tsh", q, k) * cut[0].shape[-1] ** -0.5
    if causal:
        s = s + np.triu(np.full((s.shape[-3], s.shape[-2]), -1e9), 1)[..., None]
    w = softmax(s, axis=-2)
    out = np.einsum("...tsh,...shd,hdc->...tc", w, v, W_O.reshape(n_heads, -1, len(W_O)))
    return out, w


def multi_head_by_torch(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    import torch

    X, W_Q, W_K, W_V, W_O = map(torch.as_tensor, (X, W_Q, W_K, W_V, W_O))
    q, k, v = ((X @ W).unflatten(-1, (n_heads, -1)).transpose(-2, -3) for W in (W_Q, W_K, W_V))
    attend = torch.nn.functional.scaled_dot_product_attention
    return (attend(q, k, v, is_causal=masked).transpose(-2, -3).flatten(-2) @ W_O).numpy()


def cross_by_loop(X, memory, W_Q, W_K, W_V):
    keys = [m @ W_K for m in memory]
    rows = []
    for x in X:
        q = x @ W_Q
        e = np.exp([q.dot(k) / np.sqrt(len(q)) - 5 for k in keys])
        rows.append(sum(w * (m @ W_V) for w, m in zip(e / e.sum(), memory, strict=True)))
    return np.array(rows)


def cross_by_einsum(X, memory, W_Q, W_K, W_V):
    s = np.einsum("...tc,cd,...sm,md->...ts", X, W_Q, memory, W_K) / W_Q.shape[1] ** 0.5
    w = softmax(s)
    return w @ (memory @ W_V), w


def append_in_place(cache, K, V):
    cache["K"] = np.append(cache["K"], K, axis=-2)
    cache["V"] = np.append(cache["V"], V, axis=-2)
    return cache


def step_of_a_vector(x, cache, W_Q, W_K, W_V):
    q, k, v = x @ W_Q, x @ W_K, x @ W_V
    K = np.concatenate([cache["K"], k[None]])
    V = np.concatenate([cache["V"], v[None]])
    return softmax(K @ q / np.sqrt(len(q))) @ V, {"K": K, "V": V}


def step_of_a_row(x, cache, W_Q, W_K, W_V):
    cache["K"] = np.concatenate([cache["K"], x @ W_K], axis=0)
    cache["V"] = np.concatenate([cache["V"], x @ W_V], axis=0)
    s = (x @ W_Q) @ cache["K"].T / np.sqrt(W_Q.shape[1])
    return softmax(s) @ cache["V"], cache


def step_of_either(x, cache, W_Q, W_K, W_V):
    K, V = np.vstack([cache["K"], x @ W_K]), np.vstack([cache["V"], x @ W_V])
    return softmax(x @ W_Q @ K.T / W_K.shape[1] ** 0.5) @ V, {"K": K, "V": V}


def step_of_many(x, cache, W_Q, W_K, W_V):
    rows = np.atleast_2d(x)
    K, V = np.vstack([cache["K"], rows @ W_K]), np.vstack([cache["V"], rows @ W_V])
    hide = np.triu(np.ones((len(rows), len(K)), bool), len(K) - len(rows) + 1)
    s = np.where(hide, -np.inf, rows @ W_Q @ K.T / W_K.shape[1] ** 0.5)
    return (softmax(s) @ V).reshape(*x.shape[:-1], -1), {"K": K, "V": V}


def step_by_torch(x, cache, W_Q, W_K, W_V):
    import torch

    x, W_Q, W_K, W_V = map(torch.as_tensor, (x, W_Q, W_K, W_V))
    K = torch.cat([torch.as_tensor(cache["K"]), (x @ W_K).unsqueeze(0)])
    V = torch.cat([torch.as_tensor(cache["V"]), (x @ W_V).unsqueeze(0)])
    w = torch.softmax((x @ W_Q) @ K.T / W_Q.shape[1] ** 0.5, dim=-1)
    return (w @ V).numpy(), {"K": K.numpy(), "V": V.numpy()}


def prefill_token_by_token(X, cache, W_Q, W_K, W_V, P):
    out = []
    for x in X:
        place = P[len(cache["K"])]
        row, cache = step_of_a_vector(x + place, cache, W_Q, W_K, W_V)
        out.append(row)
    return np.array(out), cache


RIGHT = [
    ("split_heads", heads_by_lists),
    ("merge_heads", heads_side_by_side),
    ("multi_head_attention", multi_head_by_loop),
    ("multi_head_attention", multi_head_by_einsum),
    ("multi_head_attention", multi_head_by_torch),
    ("cross_attention", cross_by_einsum),
    ("kv_cache_append", append_in_place),
    ("kv_cache_step", step_of_a_vector),
    ("kv_cache_step", step_of_a_row),
    ("kv_cache_step", step_of_many),
    ("kv_cache_step", step_by_torch),
    ("kv_cache_prefill", prefill_token_by_token),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_in_an_odd_style_is_right(name, answer):
    if "torch" in answer.__name__:
        pytest.importorskip("torch", reason="an answer in PyTorch (extra torch)")
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("right", []), verdict


def test_a_constant_instead_of_the_maximum_is_right_but_not_safe():
    verdict = verdict_of(cross_by_loop, find("cross_attention"))
    assert verdict.kind == "right"
    assert verdict.beside


def test_a_row_for_a_vector_is_another_convention():
    def answer(x, cache, W_Q, W_K, W_V):
        return step_of_a_row(x.reshape(1, -1), cache, W_Q, W_K, W_V)

    assert verdict_of(answer, find("kv_cache_step")).variant.key == "out-as-row"


def test_a_step_that_would_need_a_mask_for_several_rows_is_simply_right():
    verdict = verdict_of(step_of_either, find("kv_cache_step"))
    assert (verdict.kind, verdict.mistakes) == ("right", [])


def test_a_form_is_not_refused_by_raising_on_one_input():
    def answer(x, cache, W_Q, W_K, W_V):
        if not len(cache["K"]):
            raise ValueError("nothing there")
        return step_of_a_vector(x, cache, W_Q, W_K, W_V)

    assert verdict_of(answer, find("kv_cache_step")).kind == "wrong"


def test_an_answer_that_returns_nothing_is_wrong_in_every_form():
    verdict = verdict_of(lambda x, cache, W_Q, W_K, W_V: None, find("kv_cache_step"))
    assert verdict.kind == "wrong"
    assert "nothing" in verdict.findings[0].says.en


def test_an_input_in_half_precision_does_not_loosen_the_others():
    def answer(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
        return 1.001 * multi_head_by_einsum(X, W_Q, W_K, W_V, W_O, n_heads, masked)[0]

    assert verdict_of(answer, find("multi_head_attention")).kind == "wrong"


def test_a_mask_that_half_precision_cannot_hold_is_told_beside():
    def answer(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
        def cut(table):
            return table.reshape(*table.shape[:-1], n_heads, -1).swapaxes(-2, -3)

        q, k, v = cut(X @ W_Q), cut(X @ W_K), cut(X @ W_V)
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1], dtype=q.dtype)
        if masked:
            s = s + np.triu(np.ones(s.shape[-2:], s.dtype), 1) * -1e9
        return (softmax(s) @ v).swapaxes(-2, -3).reshape(X.shape) @ W_O

    verdict = verdict_of(answer, find("multi_head_attention"))
    assert (verdict.kind, verdict.mistakes) == ("right", ["mask-fp16"])


def test_a_cache_kept_between_calls_is_found():
    held = {}

    def answer(x, cache, W_Q, W_K, W_V):
        cache = held.get(W_Q.shape, cache)
        held[W_Q.shape] = step_of_a_vector(x, cache, W_Q, W_K, W_V)[1]
        return step_of_a_vector(x, cache, W_Q, W_K, W_V)

    verdict = verdict_of(answer, find("kv_cache_step"))
    assert verdict.kind == "wrong"
    assert "cache-not-reset" in verdict.mistakes


def without_heads(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    s = X @ W_Q @ (X @ W_K).T / np.sqrt(len(W_Q))
    if masked:
        s = np.where(np.tri(len(X)), s, -np.inf)
    return softmax(s) @ (X @ W_V) @ W_O


def every_second_memory(X, memory, W_Q, W_K, W_V):
    return softmax(X @ W_Q @ (memory @ W_K)[::2].T / W_Q.shape[1] ** 0.5) @ (memory @ W_V)[::2]


def doubled_newest(x, cache, W_Q, W_K, W_V):
    out, cache = step_of_a_vector(x, cache, W_Q, W_K, W_V)
    return out + x @ W_V, cache


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("multi_head_attention", without_heads),
        ("cross_attention", every_second_memory),
        ("kv_cache_step", doubled_newest),
        ("merge_heads", lambda heads: np.concatenate(list(heads[::-1]), -1)),
    ],
)
def test_a_mistake_of_no_known_kind_gets_no_name(name, answer):
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])


def test_a_leak_of_no_known_kind_is_seen():
    def answer(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
        return multi_head_by_loop(X, W_Q, W_K, W_V, W_O, n_heads, masked) + X[-1]

    findings = verdict_of(answer, find("multi_head_attention")).findings
    assert any("the future leaks" in each.says.en for each in findings)


def test_a_wrong_merge_is_shown_by_the_tokens_in_a_row():
    exercise = find("multi_head_attention")
    change = exercise.mistake("heads-merge-no-transpose").change
    evidence = verdict_of(exercise.version(change), exercise).findings[0].evidence
    assert "your row 0 holds head 0 of token 0 and head 0 of token 1" in evidence.en
