"""Each kind of decoder, written a second time in PyTorch: the same logits, the same gradients."""

from dataclasses import replace

import numpy as np
import pytest

from models.decoders import every_variant, loss_and_gradients, random_decoder, random_ids

pytestmark = pytest.mark.usefixtures("torch", "unchecked")


def twin_logits(configuration, model, ids, gradients=False):
    """PyTorch's logits of the same parameters, which it also gives back."""
    import torch

    from models import twins

    parameters = {
        name: torch.from_numpy(array.copy()).requires_grad_(gradients)
        for name, array in model.parameters().items()
    }
    return twins.logits(configuration, parameters, torch.from_numpy(ids)), parameters


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_logits_agree(configuration, dtype, tolerance):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 3, configuration.context)
    found = model(ids)
    wanted, _ = twin_logits(configuration, model, ids)
    assert found.dtype == dtype
    assert abs(found).max() > 0.5
    np.testing.assert_allclose(found, wanted.numpy(), rtol=0, atol=tolerance)


@every_variant
def test_gradients_agree(configuration, torch):
    model = random_decoder(configuration)
    ids = random_ids(configuration, 3, configuration.context)
    targets = random_ids(configuration, 3, configuration.context, seed=2)
    loss, gradients = loss_and_gradients(model, ids, targets)
    logits, parameters = twin_logits(configuration, model, ids, gradients=True)
    wanted = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), torch.from_numpy(targets).flatten()
    )
    wanted.backward()
    np.testing.assert_allclose(loss, wanted.item(), rtol=1e-12)
    for name, parameter in parameters.items():
        np.testing.assert_allclose(
            gradients[name], parameter.grad.numpy(), rtol=0, atol=1e-10, err_msg=name
        )


def test_a_sequence_shorter_or_longer_than_usual_agrees(torch):
    from models.decoders import VARIANTS

    for variant in (VARIANTS["the modern recipe"], VARIANTS["the classic recipe"]):
        configuration = replace(variant, context=200, layers=1)
        model = random_decoder(configuration)
        for length in (1, 2, 200):
            ids = random_ids(configuration, 1, length)
            wanted, _ = twin_logits(configuration, model, ids)
            np.testing.assert_allclose(model(ids), wanted.numpy(), rtol=0, atol=1e-12)
