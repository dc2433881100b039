"""Both sides are seen, a mask hides its token, and both engines agree."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.tape import Tape
from clearformer.models.tap import Recorder, silent
from models.decoders import random_decoder
from models.encoder.encoders import MODERN, every_variant, random_encoder, random_ids

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked


@every_variant
def test_every_token_changes_what_is_said_of_every_other(configuration):
    model = random_encoder(configuration)
    ids = random_ids(configuration, 1, configuration.context)
    before = model(ids)
    for place in range(configuration.context):
        changed = ids.copy()
        changed[:, place] = (changed[:, place] + 1) % (configuration.mask + 1)
        assert (abs(model(changed) - before).max(-1) > 1e-9).all(), place


@every_variant
def test_the_scores_are_those_of_the_vocabulary_and_the_mask_has_none(configuration):
    ids = np.full((2, 3), configuration.mask)
    assert random_encoder(configuration)(ids).shape == (2, 3, configuration.vocabulary)


@every_variant
def test_listening_changes_nothing_and_names_are_those_of_a_decoder(configuration):
    model, heard, usual = random_encoder(configuration), Recorder(), Recorder()
    ids = random_ids(configuration, 2, configuration.context)
    np.testing.assert_allclose(model(ids, tap=heard), model(ids), rtol=0, atol=1e-12)
    random_decoder(configuration.stack)(ids, tap=usual)
    hidden = {name for name in usual.seen if name.endswith("masked_scores")}
    assert list(heard.seen) == [name for name in usual.seen if name not in hidden]


@every_variant
def test_from_vectors_goes_on_where_the_embedding_ends(configuration):
    model, heard = random_encoder(configuration), Recorder()
    ids = random_ids(configuration, 2, configuration.context)
    logits = model(ids, tap=heard)
    found = model.from_vectors(heard.seen["embedding"], silent)
    np.testing.assert_allclose(found, logits, rtol=0, atol=1e-12)


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_logits_agree_with_pytorch_written_a_second_time(configuration, dtype, tolerance, torch):
    from models import twins

    model = random_encoder(configuration, dtype)
    ids = random_ids(configuration, 3, configuration.context)
    parameters = {n: torch.from_numpy(array.copy()) for n, array in model.parameters().items()}
    wanted = twins.logits(configuration, parameters, torch.from_numpy(ids), causal=False)
    np.testing.assert_allclose(model(ids), wanted.numpy(), rtol=0, atol=tolerance)


@every_variant
def test_the_engines_agree_in_value_and_gradient(configuration, torch):
    model = random_encoder(configuration)
    ids = random_ids(configuration, 3, configuration.context)
    targets = random_ids(configuration, 3, configuration.context, seed=2) % configuration.vocabulary
    targets[:, ::2] = -100
    tape = Tape()
    ours = model.with_parameters(lambda _, array: tape.watch(array))
    loss = ops.cross_entropy(ours(ids), targets)
    tape.backward(loss)
    theirs = model.with_parameters(lambda _, x: torch.tensor(x, requires_grad=True))
    wanted = ops.cross_entropy(theirs(ids), targets)
    wanted.backward()
    assert float(loss) == pytest.approx(wanted.item(), rel=1e-12)
    for name, leaf in ours.parameters().items():
        gradient = theirs.parameters()[name].grad.numpy()
        np.testing.assert_allclose(tape.gradient(leaf), gradient, rtol=0, atol=1e-11, err_msg=name)


def test_dropout_changes_what_is_said_in_training_and_only_there():
    from dataclasses import replace

    model = random_encoder(replace(MODERN, dropout=0.5))
    ids = random_ids(MODERN, 2, 6)
    assert (model(ids) == model(ids)).all()
    assert (model(ids, rng=np.random.default_rng(0)) != model(ids)).any()
