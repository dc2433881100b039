"""Modules of PyTorch as answers."""

import numpy as np
import pytest

from checking.running.double import EXERCISE as DOUBLE
from checking.running.teachers import ATTENTION, FEED, HEADS, LOOK_UP, NORM
from checking.running.test_here import assert_right
from clearformer.checking.catalogue import find
from clearformer.checking.running.here import try_here

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional


class Linears(nn.Module):
    def __init__(self, n_embd, head_size, d_v, dropout, bias=True):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=bias)
        self.query = nn.Linear(n_embd, head_size, bias=bias)
        self.value = nn.Linear(n_embd, d_v, bias=bias)
        self.dropout = nn.Dropout(dropout or 0.9)

    def forward(self, x, mask=True):
        Q, K, V = self.query(x), self.key(x), self.value(x)
        return F.scaled_dot_product_attention(Q, K, self.dropout(V), is_causal=mask)


class Raw(nn.Module):
    """Parameters of its own shape, sizes in order, the mask chosen when made."""

    def __init__(self, a, b, c, causal=True):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(a, b))
        self.wk = nn.Parameter(torch.randn(a, b))
        self.third = nn.Parameter(torch.randn(a, c))
        self.causal = causal

    def forward(self, x):
        Q, K, V = x @ self.wq, x @ self.wk, x @ self.third
        return F.scaled_dot_product_attention(Q, K, V, is_causal=self.causal)


class Fused(nn.Module):
    def __init__(self, d_model, d_k, d_v):
        super().__init__()
        self.sizes = [d_k, d_k, d_v]
        self.c_attn = nn.Linear(d_model, 2 * d_k + d_v)

    def forward(self, x, causal=True):
        return F.scaled_dot_product_attention(
            *self.c_attn(x).split(self.sizes, -1), is_causal=causal
        )


class Norm(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(features))
        self.beta = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return self.gamma * centred / spread + self.beta


class Inner(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm(d_model, eps=eps)

    def forward(self, x):
        return self.norm(x)


class Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        T = x.shape[-2]
        weights = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features**-0.5
        weights = weights.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(weights, dim=-1) @ self.value(x)


class ListOfHeads(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.n_embd // config.n_head
        self.heads = nn.ModuleList(
            [Head(config.n_embd, size, config.block_size) for _ in range(config.n_head)]
        )
        self.proj = nn.Linear(config.n_embd, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.proj(torch.cat([head(x) for head in self.heads], dim=-1)))


class OwnHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        for name in ("W_Q", "W_K", "W_V"):
            shape = (n_heads, d_model, d_model // n_heads)
            self.register_parameter(name, nn.Parameter(torch.zeros(shape)))
        self.W_O = nn.Parameter(torch.zeros(d_model, d_model))

    def forward(self, x):
        Q, K, V = (x.unsqueeze(-3) @ W for W in (self.W_Q, self.W_K, self.W_V))
        heads = F.scaled_dot_product_attention(Q, K, V, is_causal=True)
        return heads.transpose(-3, -2).flatten(-2) @ self.W_O


class Whole(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.whole = nn.MultiheadAttention(d_model, n_heads, batch_first=True)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[-2])
        return self.whole(x, x, x, attn_mask=mask, is_causal=True)[0]


class Feed(nn.Sequential):
    def __init__(self, d_model):
        inner = nn.Linear(d_model, 4 * d_model), nn.ReLU(), nn.Linear(4 * d_model, d_model)
        super().__init__(*inner)


class LookUp(nn.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.table = nn.Embedding(vocab_size, dim)

    def forward(self, ids):
        return self.table(ids)


@pytest.mark.parametrize(
    ("kind", "exercise"),
    [
        (Linears, ATTENTION),
        (Raw, ATTENTION),
        (Fused, ATTENTION),
        (Norm, NORM),
        (Inner, NORM),
        (ListOfHeads, HEADS),
        (OwnHeads, HEADS),
        (Whole, HEADS),
        (Feed, FEED),
        (LookUp, LOOK_UP),
    ],
)
def test_a_module_holds_the_weights_of_every_probe(kind, exercise):
    record = try_here(kind, exercise)
    assert record.style.library == "torch"
    assert_right(record, exercise)


def test_an_instance_stands_for_its_class():
    assert_right(try_here(Linears(7, 3, 4, 0.1), ATTENTION), ATTENTION)


def test_an_instance_that_cannot_be_made_anew_is_tried_where_its_sizes_fit():
    class Fixed(Norm):
        def __init__(self):
            super().__init__(4)

    record = try_here(Fixed(), NORM)
    assert record.failure is None
    skipped = [name for name, each in record.outcomes.items() if each.skipped]
    assert skipped == ["large eps", "changed eps"]


def test_a_missing_weight_is_left_to_judging():
    class NoBeta(Norm):
        def __init__(self, features, eps=1e-5):
            super().__init__(features, eps)
            del self.beta
            self.beta = 0

    outcomes = try_here(NoBeta, NORM).outcomes
    right = NORM.version()(**{**NORM.probes()[0].arguments, "beta": np.zeros(4)})
    np.testing.assert_allclose(outcomes["4 columns"].values["output"], right, 1e-4, 1e-5)


def test_a_parameter_of_unknown_use_is_a_failure_that_names_it():
    class More(Linears):
        def __init__(self, n_embd, head_size, d_v):
            super().__init__(n_embd, head_size, d_v, 0)
            self.places = nn.Parameter(torch.zeros(11, n_embd))

    failure = try_here(More, ATTENTION).failure
    assert failure.kind == "signature" and "places (11, 7)" in failure.message.en


def test_a_module_for_an_exercise_without_that_form_is_a_failure():
    assert try_here(nn.Linear(3, 3), DOUBLE).failure.kind == "signature"
    assert try_here(nn.Identity, DOUBLE).failure.kind == "signature"


def test_a_module_that_holds_nothing_is_called_like_a_function():
    outcomes = try_here(nn.Softmax(dim=-1), find("softmax")).outcomes
    assert outcomes["5 rows of 5"].values
    assert try_here(nn.GELU(), find("gelu")).failure is None


def test_an_error_in_a_module_is_told_with_its_line():
    class Wrong(Linears):
        def forward(self, x):
            return x.no_such_thing

    raised = try_here(Wrong, ATTENTION).outcomes["5 tokens"].raised
    assert (raised.kind, raised.source) == ("AttributeError", "return x.no_such_thing")

    class Unmade(nn.Module):
        def __init__(self, n_embd, head_size, d_v):
            super().__init__()
            raise ZeroDivisionError("in the constructor")

        def forward(self, x):
            return x

    raised = try_here(Unmade, ATTENTION).outcomes["5 tokens"].raised
    assert (raised.kind, raised.message) == ("ZeroDivisionError", "in the constructor")
