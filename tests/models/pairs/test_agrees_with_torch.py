"""The same numbers as somebody would get who puts the modules of PyTorch together."""

import numpy as np
import pytest

from models.pairs.small import batch, random_model

torch = pytest.importorskip("torch")


def their_gru(layer):
    """The same layer as a module of PyTorch, in its order of rows."""
    module = torch.nn.GRU(*layer.weight_input.shape[:1], layer.weight_hidden.shape[0],
                          batch_first=True, dtype=torch.float64)  # fmt: skip
    with torch.no_grad():
        module.weight_ih_l0.copy_(torch.tensor(layer.weight_input.T))
        module.weight_hh_l0.copy_(torch.tensor(layer.weight_hidden.T))
        module.bias_ih_l0.copy_(torch.tensor(layer.bias))
        module.bias_hh_l0.zero_()
        module.bias_hh_l0[-len(layer.bias_new) :] = torch.tensor(layer.bias_new)
    return module


@pytest.mark.parametrize("name", ["gru, dot", "gru, no attention", "gru, additive"])
def test_a_recurrent_model_agrees(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    table = torch.tensor(model.embedding.table)
    with torch.no_grad():
        x, states = table[torch.tensor(sources)], []
        for layer in model.encoder.layers:
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                x, torch.tensor(lengths), batch_first=True, enforce_sorted=False
            )
            packed, state = their_gru(layer)(packed)
            x, _ = torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
            states.append(state)
        y = table[torch.tensor(inputs)]
        for layer, state in zip(model.decoder.layers, states, strict=True):
            y, _ = their_gru(layer)(y, state)
        y = looked_back(model.decoder.attention, y, x, lengths)
        logits = y @ torch.tensor(model.output.linear.weight)
    mine = model(sources, inputs, lengths=lengths)
    np.testing.assert_allclose(mine, logits.numpy(), 1e-9, 1e-11)


def looked_back(attention, y, x, lengths):
    """Equations of Luong et al. and Bahdanau et al., written out."""
    if not hasattr(attention, "from_source"):
        return y
    if hasattr(attention, "score"):
        both = y[:, :, None] @ torch.tensor(attention.query.weight)
        both = both + x[:, None] @ torch.tensor(attention.key.weight)
        scores = (torch.tanh(both) @ torch.tensor(attention.score.weight))[..., 0]
    else:
        scores = torch.einsum("bth,bsh->bts", y, x) / x.shape[-1] ** 0.5
    there = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    weights = scores.masked_fill(~there[:, None], -torch.inf).softmax(-1)
    mixed = weights @ x
    return torch.tanh(
        mixed @ torch.tensor(attention.from_source.weight)
        + y @ torch.tensor(attention.from_state.weight)
    )


def test_cross_attention_agrees():
    model, (sources, lengths, inputs) = random_model("classic transformer"), batch()
    cross = model.decoder.blocks[0].cross
    memory = model.encode(sources, lengths)
    x = model.embedding(inputs)
    mine = cross(x, cross.read(memory.outputs), memory.there[:, None])
    module = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    parts = cross.query, cross.key, cross.value
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.tensor(np.concatenate([p.weight.T for p in parts])))
        module.in_proj_bias.copy_(torch.tensor(np.concatenate([p.bias for p in parts])))
        module.out_proj.weight.copy_(torch.tensor(cross.output.weight.T))
        module.out_proj.bias.copy_(torch.tensor(cross.output.bias))
        gone = torch.arange(7) >= torch.tensor(lengths)[:, None]
        source = torch.tensor(memory.outputs)
        found, _ = module(torch.tensor(x), source, source, key_padding_mask=gone)
    np.testing.assert_allclose(mine, found.numpy(), 1e-9, 1e-11)
