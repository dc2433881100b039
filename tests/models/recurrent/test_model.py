"""Laws of the models: what they remember, and what they cannot know."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.choose import moved
from clearformer.engines.tape import Tape
from clearformer.models.dropout import Dropout
from clearformer.models.kinds import KINDS, build
from clearformer.models.recurrent.state import RecurrentState
from clearformer.models.tap import Recorder
from models.decoders import loss_and_gradients

from .small import SIZES, VARIANTS, every_kind, every_variant, random_ids, random_model

STAGES = {
    "rnn": ["hidden"],
    "lstm": ["input_gate", "forget_gate", "candidate", "cell", "output_gate", "hidden"],
    "gru": ["reset_gate", "update_gate", "candidate", "hidden"],
}


@every_variant
def test_the_past_never_sees_the_future(configuration):
    model, ids = random_model(configuration), random_ids(2, 8)
    changed = ids.copy()
    changed[:, 5:] = (changed[:, 5:] + 1) % configuration.vocabulary
    before, after = model(ids), model(changed)
    assert np.array_equal(before[:, :5], after[:, :5])
    assert not np.allclose(before[:, 5], after[:, 5])


@every_variant
@pytest.mark.parametrize("cut", [1, 3, 7])
def test_two_windows_with_the_state_carried_equal_one_long_one(configuration, cut):
    model, ids, state = random_model(configuration), random_ids(3, 8), RecurrentState(2)
    parts = [model(ids[:, :cut], state=state), model(ids[:, cut:], state=state)]
    np.testing.assert_allclose(np.concatenate(parts, 1), model(ids), rtol=0, atol=1e-12)


@every_variant
def test_without_the_state_the_second_window_knows_nothing_of_the_first(configuration):
    model, ids = random_model(configuration), random_ids(3, 8)
    assert not np.allclose(model(ids[:, 4:]), model(ids)[:, 4:], atol=1e-3)


@every_variant
def test_the_gradient_stops_at_the_border_of_a_window(configuration):
    """The second window's loss is that of a model that was given its first state as a constant."""
    model, ids, targets = random_model(configuration), random_ids(3, 8), random_ids(3, 8, seed=2)
    tape = Tape()
    watched = model.with_parameters(lambda _, parameter: tape.watch(parameter))
    state = RecurrentState(2)
    watched(ids[:, :4], state=state)
    carried = [tuple(map(np.copy, layer)) for layer in state.layers]
    assert all(type(array) is np.ndarray for layer in state.layers for array in layer)
    tape.backward(ops.cross_entropy(watched(ids[:, 4:], state=state), targets[:, 4:]))
    fresh = RecurrentState(2)
    fresh.layers = carried
    _, alone = loss_and_gradients(model, ids[:, 4:], targets[:, 4:], state=fresh)
    for name, leaf in watched.parameters().items():
        np.testing.assert_allclose(tape.gradient(leaf), alone[name], rtol=0, atol=1e-12)
    whole = loss_and_gradients(model, ids, np.where(np.arange(8) < 4, -100, targets))[1]
    assert not np.allclose(whole["layers.0.weight_hidden"], alone["layers.0.weight_hidden"])


@every_variant
def test_listening_changes_nothing(configuration):
    model, ids = random_model(configuration), random_ids(2, 8)
    heard = Recorder()
    assert np.array_equal(model(ids, tap=heard), model(ids))
    targets = random_ids(2, 8, seed=2)
    quiet = loss_and_gradients(model, ids, targets)
    loud = loss_and_gradients(model, ids, targets, tap=Recorder())
    assert quiet[0] == loud[0]
    assert all(np.array_equal(gradient, loud[1][name]) for name, gradient in quiet[1].items())


@every_variant
def test_every_gate_and_state_is_heard(configuration):
    heard = Recorder()
    random_model(configuration)(random_ids(2, 8), tap=heard)
    expected = [f"layers.{n}.{name}" for n in range(2) for name in STAGES[configuration.kind]]
    assert list(heard.seen) == ["embedding", *expected, "projected", "logits"]
    assert {heard.seen[name].shape for name in expected} == {(2, 8, SIZES["hidden"])}


@every_variant
def test_the_steps_one_by_one_agree_with_the_fused_operation(configuration):
    model, ids = random_model(configuration), random_ids(2, 8)
    state, x = RecurrentState(2), model.embedding(ids)
    model(random_ids(2, 3, seed=4), state=state)  # so that it begins with something
    for number, layer in enumerate(model.layers):
        heard, before = Recorder(), state.layers[number]
        fused, after = layer(x, before)
        layer(x, before, heard)
        np.testing.assert_allclose(heard.seen["hidden"], fused, rtol=0, atol=1e-12)
        again = Recorder({"hidden": np.copy})  # what is replaced by itself
        outputs, states = layer(x, before, again)
        np.testing.assert_allclose(outputs, fused, rtol=0, atol=1e-12)
        for one, other in zip(states, after, strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
        x = fused


@every_variant
def test_an_edit_of_a_gate_changes_what_comes_after_it_and_nothing_before(configuration):
    model, ids, plain = random_model(configuration), random_ids(1, 8), Recorder()
    model(ids, tap=plain)
    for name in STAGES[configuration.kind]:

        def shut(x):
            changed = np.array(x)
            changed[:, 4] = 0
            return changed

        edited = Recorder({f"layers.0.{name}": shut})
        logits = model(ids, tap=edited)
        np.testing.assert_allclose(logits[:, :4], plain.seen["logits"][:, :4], atol=1e-12)
        assert not np.allclose(logits[:, 4], plain.seen["logits"][:, 4]), name
        assert not np.allclose(logits[:, 5:], plain.seen["logits"][:, 5:]), name
        assert not edited.seen[f"layers.0.{name}"][:, 4].any()
        assert edited.seen[f"layers.0.{name}"][:, 5:].all()
        for other in STAGES[configuration.kind]:  # each gate hears of it one step later
            stage = f"layers.0.{other}"
            assert not np.allclose(edited.seen[stage][:, 5], plain.seen[stage][:, 5]), (name, other)


def test_a_memory_that_is_kept_and_shut_off_stays_as_it_is():
    """With the forget gate open and the input gate shut, the cell never changes."""
    model, state = random_model(VARIANTS["lstm "]), RecurrentState(2)
    model(random_ids(1, 3), state=state)
    first = state.layers[0][1].copy()
    heard = Recorder({
        "layers.0.forget_gate": np.ones_like,
        "layers.0.input_gate": np.zeros_like,
    })  # fmt: skip
    model(random_ids(1, 8, seed=3), tap=heard, state=state)
    assert np.array_equal(heard.seen["layers.0.cell"], np.repeat(first[:, None], 8, 1))
    assert np.array_equal(state.layers[0][1], first)


@every_variant
def test_the_gradient_of_what_went_in_can_be_asked_for(configuration):
    model, ids, targets = random_model(configuration), random_ids(2, 8), random_ids(2, 8, seed=2)
    vectors, tape = model.embedding(ids), Tape()
    watched = tape.watch(vectors)
    loss = ops.cross_entropy(model.from_vectors(watched), targets)
    tape.backward(loss)
    found, rng = tape.gradient(watched), np.random.default_rng(5)
    direction, small = rng.normal(size=vectors.shape), 1e-6
    up, down = (
        float(ops.cross_entropy(model.from_vectors(vectors + sign * small * direction), targets))
        for sign in (1, -1)
    )
    assert (up - down) / (2 * small) == pytest.approx((found * direction).sum(), rel=1e-6)


@every_variant
@pytest.mark.usefixtures("torch")
def test_engines_agree(configuration):
    model, ids = random_model(configuration), random_ids(3, 8)
    other, state = moved(model, "torch", "cpu"), RecurrentState(2)
    parts = [other(ids[:, :3], state=state), other(ids[:, 3:], state=state)]
    found = np.concatenate([part.numpy() for part in parts], 1)
    np.testing.assert_allclose(found, model(ids), rtol=0, atol=1e-12)
    heard, theirs = Recorder(), Recorder({"layers.0.hidden": lambda x: x * 0.5})
    model(ids, tap=heard)
    ours = Recorder({"layers.0.hidden": lambda x: x * 0.5})
    np.testing.assert_allclose(other(ids, tap=theirs).numpy(), model(ids, tap=ours), atol=1e-12)
    for name, x in ours.seen.items():
        np.testing.assert_allclose(theirs.seen[name].numpy(), x, rtol=0, atol=1e-12, err_msg=name)


@every_kind
def test_at_the_start_states_are_turned_and_forget_gates_are_open(kind):
    model = build(KINDS[kind].configuration(65), np.random.default_rng(0))
    for layer in model.layers:
        width = len(layer.weight_hidden)
        gates = layer.weight_hidden.shape[1] // width
        for gate in np.split(layer.weight_hidden, gates, 1):
            np.testing.assert_allclose(gate @ gate.T, np.eye(width), atol=1e-5)
        opened = layer.bias.reshape(gates, width)
        expected = np.zeros((gates, 1))
        if kind == "lstm":
            expected[1] = 1
        assert np.array_equal(opened, np.broadcast_to(expected, opened.shape))


def test_dropout_falls_between_layers_and_never_between_steps():
    from dataclasses import replace

    plain = random_model(VARIANTS["lstm "])
    model, ids = replace(plain, dropout=Dropout(0.5)), random_ids(1, 8)
    assert np.array_equal(model(ids), plain(ids))
    rng = np.random.default_rng(3)
    kept = [
        (rng.random((1, 8, width), np.float32) >= 0.5) * 2.0
        for width in (SIZES["embed"], SIZES["hidden"], SIZES["hidden"])
    ]
    x = plain.embedding(ids) * kept[0]
    for layer, keep in zip(plain.layers, kept[1:], strict=True):
        x = layer(x)[0] * keep
    expected = plain.output(x, plain.embedding)
    np.testing.assert_allclose(model(ids, rng=np.random.default_rng(3)), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "width", "vocabulary", "whole"),
    [("lstm", 124, 65, True), ("lstm", 690, 65, False), ("lstm", 124, 4096, False),
     ("gru", 124, 65, False), ("rnn", 124, 65, False)],
)  # fmt: skip
def test_a_narrow_lstm_with_few_tokens_is_computed_in_one_piece(kind, width, vocabulary, whole):
    sizes = {"layers": 1, "embed": 64, "context": 32, "hidden": width, "vocabulary": vocabulary}
    assert build(KINDS[kind].configuration(**sizes), None).in_one_piece is whole
