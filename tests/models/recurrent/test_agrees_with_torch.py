"""The same model of torch.nn's own modules: the same logits, the same gradients."""

import numpy as np
import pytest

from clearformer.models.kinds import KINDS
from models.decoders import loss_and_gradients

from .small import SIZES, every_kind, random_ids, random_model

pytestmark = pytest.mark.usefixtures("torch", "unchecked")


def modules_of(kind, model):
    """Embedding, recurrent layers and linear layer of PyTorch with our weights; ours by theirs."""
    import torch
    from torch import nn

    def put(parameter, array):
        parameter.data = torch.from_numpy(np.ascontiguousarray(array))

    width, embed = SIZES["hidden"], SIZES["embed"]
    cells = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind](
        embed, width, SIZES["layers"], batch_first=True, dtype=torch.float64
    )
    table = nn.Embedding(SIZES["vocabulary"], embed, dtype=torch.float64)
    output = nn.Linear(width, SIZES["vocabulary"], bias=False, dtype=torch.float64)
    put(table.weight, model.embedding.table)
    put(output.weight, model.output.linear.weight.T)
    for number, layer in enumerate(model.layers):
        put(getattr(cells, f"weight_ih_l{number}"), layer.weight_input.T)
        put(getattr(cells, f"weight_hh_l{number}"), layer.weight_hidden.T)
        put(getattr(cells, f"bias_ih_l{number}"), layer.bias)
        second = np.zeros_like(layer.bias)
        if kind == "gru":
            second[2 * width :] = layer.bias_new
        put(getattr(cells, f"bias_hh_l{number}"), second)
    return table, cells, output


def their_gradients(kind, table, cells, output):
    width = SIZES["hidden"]
    found = {"embedding.table": table.weight.grad, "output.linear.weight": output.weight.grad.T}
    for number in range(SIZES["layers"]):
        path = f"layers.{number}"
        found[f"{path}.weight_input"] = getattr(cells, f"weight_ih_l{number}").grad.T
        found[f"{path}.weight_hidden"] = getattr(cells, f"weight_hh_l{number}").grad.T
        found[f"{path}.bias"] = getattr(cells, f"bias_ih_l{number}").grad
        if kind == "gru":
            found[f"{path}.bias_new"] = getattr(cells, f"bias_hh_l{number}").grad[2 * width :]
    return found


@every_kind
def test_logits_and_all_gradients_agree_with_modules_of_pytorch(kind, torch):
    model = random_model(KINDS[kind].configuration(**SIZES))
    ids, targets = random_ids(3, 8), random_ids(3, 8, seed=2)
    table, cells, output = modules_of(kind, model)
    logits = output(cells(table(torch.from_numpy(ids)))[0])
    wanted = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), torch.from_numpy(targets).flatten()
    )
    wanted.backward()
    np.testing.assert_allclose(model(ids), logits.detach().numpy(), rtol=0, atol=1e-10)
    loss, gradients = loss_and_gradients(model, ids, targets)
    assert loss == pytest.approx(wanted.item(), abs=1e-10)
    theirs = their_gradients(kind, table, cells, output)
    assert set(theirs) == set(gradients)
    for name, gradient in gradients.items():
        assert abs(gradient).max() > 1e-6, name
        np.testing.assert_allclose(gradient, theirs[name].numpy(), rtol=0, atol=1e-10, err_msg=name)
