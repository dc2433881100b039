"""From queries to masks and padding: held equal to the library; odd answers are accepted."""

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.catalogue import find
from clearformer.models.scaled_dot_product import attention


def given(name):
    """The arguments of every probe of an exercise that decides."""
    return [probe.arguments for probe in find(name).probes() if probe.role == "main"]


def test_queries_keys_and_values_are_the_librarys_projections():
    for each in given("query_key_value"):
        made = find("query_key_value").version()(**each)
        for mine, name in zip(made, ("W_Q", "W_K", "W_V"), strict=True):
            np.testing.assert_allclose(mine, ops.linear(each["X"], each[name]))


def test_scaled_scores_are_the_scores_by_the_root_of_the_width():
    for each in given("scaled_scores"):
        plain = find("attention_scores").version()(**each)
        np.testing.assert_allclose(plain, np.einsum("td,sd->ts", each["Q"], each["K"]))
        scaled = find("scaled_scores").version()(**each)
        np.testing.assert_allclose(scaled * each["Q"].shape[-1] ** 0.5, plain)


def test_the_steps_together_are_the_librarys_causal_attention():
    for each in given("self_attention"):
        if not each.get("masked", True):
            continue
        Q, K, V = find("query_key_value").version()(
            **{name: each[name] for name in ("X", "W_Q", "W_K", "W_V")}
        )
        scores = find("causal_mask").version()(find("scaled_scores").version()(Q, K))
        output = find("softmax").version()(scores) @ V
        np.testing.assert_allclose(output, attention(Q, K, V, causal=True), rtol=1e-9)
        np.testing.assert_allclose(output, find("self_attention").version()(**each))


@pytest.mark.parametrize("name", ["query_key_value", "attention_scores", "scaled_scores"])
def test_a_batch_is_each_of_its_texts(name):
    exercise, each = find(name), given(name)[0]

    def results(times):
        changed = {key: times * each[key] if key in exercise.batched else each[key] for key in each}
        found = exercise.version()(**changed)
        return found if isinstance(found, tuple) else (found,)

    batch = results(np.array([1.0, 2.0])[:, None, None])
    for both, one, two in zip(batch, results(1), results(2), strict=True):
        np.testing.assert_allclose(both, np.stack([one, two]))


def test_attention_with_lengths_is_the_librarys_also_for_an_empty_text():
    for probe in find("attention_with_lengths").probes():
        Q, K, V, lengths = (probe.arguments[name] for name in ("Q", "K", "V", "lengths"))
        real = np.arange(K.shape[-2]) < lengths[:, None, None, None]
        expected = attention(Q, K, V, mask=real)
        with np.errstate(invalid="ignore"):
            output = find("attention_with_lengths").version()(**probe.arguments)
        np.testing.assert_allclose(output, expected, rtol=1e-8, atol=1e-12)


def projections_by_einsum(x, wq, wk, wv):
    return [np.einsum("...c,cd->...d", x, w) for w in (wq, wk, wv)]


def scores_by_loop(Q, K):
    out = np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            out[i, j] = sum(a * b for a, b in zip(q, k, strict=True))
    return out


def scores_by_torch(Q, K):
    import torch

    return torch.baddbmm(
        torch.zeros(1, 1, 1, dtype=torch.float64),
        torch.tensor(Q)[None],
        torch.tensor(K)[None].mT,
        beta=0,
    )[0].numpy()


def scaled_queries_first(Q, K):
    return np.inner(Q * Q.shape[-1] ** -0.5, K)


def mask_by_comparing(scores):
    n = scores.shape[-1]
    places = np.arange(n)
    out = scores.copy()
    out[..., places[None, :] > places[:, None]] = -np.inf
    return out


def mask_by_adding(scores):
    return scores + np.triu(np.full(scores.shape[-2:], -np.inf), 1)


def mask_by_loop(scores):
    return np.array(
        [
            [score if key <= query else float("-inf") for key, score in enumerate(row)]
            for query, row in enumerate(scores)
        ]
    )


def mask_with_the_smallest_number(scores):
    return np.where(np.tri(len(scores)), scores, np.finfo(scores.dtype).min)


def mask_with_minus_12345(scores):
    return scores - 12345.0 * (1 - np.tri(len(scores)))


def padding_as_numbers(ids, pad_id):
    return 1 - np.isclose(ids, pad_id).astype(int)


def padding_by_loop(ids, pad_id):
    return np.array([[token != pad_id for token in row] for row in ids.tolist()])


def padding_for_scores(ids, pad_id):
    return (ids != pad_id)[:, np.newaxis, np.newaxis, :]


def padding_to_add(ids, pad_id):
    return np.log((ids != pad_id).astype(float))


def padded_text_by_text(Q, K, V, lengths):
    out = np.zeros((*Q.shape[:3], V.shape[-1]))
    for b, n in enumerate(lengths):
        if n:
            s = np.einsum("htd,hsd->hts", Q[b], K[b, :, :n]) / np.sqrt(Q.shape[-1])
            e = np.exp(s - s.max(-1, keepdims=True))
            out[b] = np.einsum("hts,hsv->htv", e / e.sum(-1, keepdims=True), V[b, :, :n])
    return out


def padded_by_torch(Q, K, V, lengths):
    import torch

    Q, K, V, lengths = (torch.tensor(each) for each in (Q, K, V, lengths))
    real = torch.arange(K.shape[2])[None] < lengths[:, None]
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(Q, K, V, attn_mask=real[:, None, None]).numpy()


RIGHT = [
    ("query_key_value", projections_by_einsum),
    ("attention_scores", scores_by_loop),
    ("attention_scores", scores_by_torch),
    ("scaled_scores", scaled_queries_first),
    ("causal_mask", mask_by_comparing),
    ("causal_mask", mask_by_adding),
    ("causal_mask", mask_by_loop),
    ("padding_mask", padding_as_numbers),
    ("padding_mask", padding_by_loop),
    ("attention_with_lengths", padded_text_by_text),
    ("attention_with_lengths", padded_by_torch),
]

OTHER_CONVENTION = [
    ("causal_mask", mask_with_the_smallest_number, "fill-large-negative"),
    ("causal_mask", mask_with_minus_12345, "fill-large-negative"),
    ("padding_mask", padding_for_scores, "mask-for-heads"),
    ("padding_mask", padding_to_add, "mask-to-add"),
]


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_in_an_odd_style_is_right(name, answer):
    if "torch" in answer.__name__:
        pytest.importorskip("torch", reason="an answer in PyTorch (extra torch)")
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("right", []), verdict


@pytest.mark.parametrize(("name", "answer", "key"), OTHER_CONVENTION)
def test_another_convention_is_right_and_named(name, answer, key):
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.variant.key) == ("variant", key)


def test_a_fill_that_scores_can_reach_is_wrong_and_its_number_is_told():
    def answer(scores):
        return np.where(np.tri(len(scores)), scores, -37.5)

    verdict = verdict_of(answer, find("causal_mask"))
    assert verdict.mistakes == ["mask-fill-small"]
    assert "-37.5" in verdict.findings[0].evidence.en


def test_any_constant_scale_is_read_off():
    verdict = verdict_of(lambda Q, K: Q @ K.T / 5.25, find("scaled_scores"))
    assert verdict.mistakes == ["scale-constant"]
    assert "5.25" in verdict.findings[0].evidence.en


def distances(Q, K):
    return -np.abs(Q[:, None] - K[None]).sum(-1)


def half_a_mask(scores):
    return np.where(np.tri(len(scores)) + np.eye(len(scores), k=1), scores, 0.5 * scores)


def every_second_place(Q, K, V, lengths):
    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    s[..., 1::2] = -np.inf
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ V


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("attention_scores", distances),
        ("causal_mask", half_a_mask),
        ("attention_with_lengths", every_second_place),
        ("query_key_value", lambda X, q, k, v: (X @ q + 1, X @ k, X @ v)),
        ("padding_mask", lambda ids, pad_id: ids % 2 == 0),
    ],
)
def test_a_mistake_of_no_known_kind_gets_no_name(name, answer):
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])


def test_dropout_on_the_scores_is_told_from_dropout_on_the_weights():
    random = np.random.default_rng(5)

    def attends(X, W_Q, W_K, W_V, masked, drop_scores, drop_weights):
        s = X @ W_Q @ np.swapaxes(X @ W_K, -1, -2) / np.sqrt(W_Q.shape[1])
        if masked:
            s = np.where(np.tri(X.shape[-2]), s, -np.inf)
        s = drop_scores(s)
        e = np.exp(s - s.max(-1, keepdims=True))
        return drop_weights(e / e.sum(-1, keepdims=True)) @ (X @ W_V)

    def drop(table):
        return table * (random.random(table.shape) > 0.25) / 0.75

    def before(X, W_Q, W_K, W_V, masked=True):
        return attends(X, W_Q, W_K, W_V, masked, drop, np.asarray)

    def after(X, W_Q, W_K, W_V, masked=True):
        return attends(X, W_Q, W_K, W_V, masked, np.asarray, drop)

    assert verdict_of(before, find("self_attention")).mistakes == [
        "dropout-in-eval",
        "dropout-before-softmax",
    ]
    assert verdict_of(after, find("self_attention")).mistakes == ["dropout-in-eval"]
