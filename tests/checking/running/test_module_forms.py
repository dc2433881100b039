"""Modules as learners write them, judged: right ones are right, a mistake has its name."""

import pytest

from clearformer.checking.check import check

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional


class Head(nn.Module):
    """One size for keys and values, the mask in a buffer."""

    axis = -1

    def __init__(self, n_embd, head_size, block_size, dropout=0.2):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        _, T, C = x.shape
        k, q = self.key(x), self.query(x)
        weights = q @ k.transpose(-2, -1) * self.scale(C, k.shape[-1])
        weights = weights.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(F.softmax(weights, dim=-1)) @ self.value(x)

    def scale(self, width, head_size):
        return head_size**-0.5


class ScaledByWidth(Head):
    def scale(self, width, head_size):
        return width**-0.5


class ThreeSizes(nn.Module):
    def __init__(self, d_in, d_k, d_v):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_k))
        self.W_key = nn.Parameter(torch.rand(d_in, d_k))
        self.W_value = nn.Parameter(torch.rand(d_in, d_v))

    def forward(self, x, causal=True):
        Q, K, V = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return F.scaled_dot_product_attention(Q, K, V, is_causal=causal)


class LayerNorm(nn.Module):
    unbiased = False

    def __init__(self, emb_dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.scale = nn.Parameter(torch.ones(emb_dim))
        self.shift = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        variance = x.var(dim=-1, keepdim=True, unbiased=self.unbiased)
        normed = (x - x.mean(dim=-1, keepdim=True)) / torch.sqrt(variance + self.eps)
        return self.scale * normed + self.shift


class SampleSpread(LayerNorm):
    unbiased = True


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Embedding(nn.Module):
    def __init__(self, vocab_size, n_embd):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)

    def forward(self, idx):
        return self.wte(idx)


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.linear2(self.dropout(self.bend(self.linear1(x))))

    bend = staticmethod(F.gelu)


class WithRelu(FeedForward):
    bend = staticmethod(F.relu)


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)

    def forward(self, xs, h):
        states = []
        for x in xs:
            h = torch.tanh(self.i2h(x) + self.h2h(h))
            states.append(h)
        return torch.stack(states)


class LSTMStep(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.x2h = nn.Linear(input_size, 4 * hidden_size)
        self.h2h = nn.Linear(hidden_size, 4 * hidden_size)

    def forward(self, x, h, c):
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class GRUStep(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        for gate in "zrn":
            setattr(self, f"W_{gate}", nn.Linear(input_size, hidden_size))
            setattr(self, f"U_{gate}", nn.Linear(hidden_size, hidden_size, bias=False))

    def forward(self, x, h):
        z = torch.sigmoid(self.W_z(x) + self.U_z(h))
        r = torch.sigmoid(self.W_r(x) + self.U_r(h))
        n = torch.tanh(self.W_n(x) + self.U_n(r * h))
        return (1 - z) * n + z * h


@pytest.mark.parametrize(
    ("module", "exercise"),
    [
        (Head, "self_attention"),
        (ThreeSizes, "self_attention"),
        (LayerNorm, "layer_norm"),
        (RMSNorm, "rms_norm"),
        (Embedding, "embedding"),
        (FeedForward, "feed_forward"),
        (RNN, "rnn_forward"),
        (LSTMStep, "lstm_step"),
        (GRUStep, "gru_step"),
    ],
)
def test_a_right_module_is_right(module, exercise):
    found = check(module, exercise)
    assert found.judged.kind == "right", str(found)


@pytest.mark.parametrize(
    ("module", "exercise", "key"),
    [
        (ScaledByWidth, "self_attention", "scale-d-model"),
        (SampleSpread, "layer_norm", "ln-ddof1"),
        (WithRelu, "feed_forward", "relu-for-gelu"),
    ],
)
def test_the_mistake_of_a_module_has_its_name(module, exercise, key):
    found = check(module, exercise)
    assert (found.judged.kind, found.mistakes[0]) == ("wrong", key), str(found)
