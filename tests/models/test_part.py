"""Parameters have their paths as names, and can be replaced without touching the original."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from clearformer.models.kinds import KINDS, build
from models.decoders import VARIANTS, every_variant, random_decoder, random_ids


@every_variant
def test_the_parameters_put_back_give_the_same_model(configuration):
    model = random_decoder(configuration)
    parameters = model.parameters()
    again = model.with_parameters(lambda name, _: parameters[name])
    assert again.parameters().keys() == parameters.keys()
    assert all(again.parameters()[name] is parameters[name] for name in parameters)
    ids = random_ids(configuration, 2, 4)
    assert (again(ids) == model(ids)).all()


@every_variant
def test_each_parameter_is_offered_once_with_its_path_and_its_value(configuration):
    model = random_decoder(configuration)
    offered = []
    model.with_parameters(lambda name, p: offered.append((name, p)) or p)
    assert [name for name, _ in offered] == list(model.parameters())
    assert all(p is model.parameters()[name] for name, p in offered)


def test_the_paths_are_the_names_in_a_save():
    """They are keys of saved runs: renaming one breaks what people have trained."""
    attention = [f"attention.{part}" for part in ("query", "key", "value", "output")]
    inner = [*attention, "feed_forward.expand", "feed_forward.project"]
    modern, classic = (
        list(random_decoder(VARIANTS[f"the {recipe} recipe"]).parameters())
        for recipe in ("modern", "classic")
    )
    both = ("weight", "bias")
    assert modern == [
        "embedding.table",
        "shift.share",
        *(
            f"blocks.{n}.{name}"
            for n in range(2)
            for name in (
                "norm_1.gain",
                *(f"{part}.weight" for part in inner[:4]),
                "norm_2.gain",
                *(f"{part}.weight" for part in inner[4:]),
            )
        ),
        "norm.gain",
        "output.linear.weight",
    ]
    assert classic == [
        "embedding.table",
        *(
            f"blocks.{n}.{name}"
            for n in range(2)
            for name in (
                "norm_1.gain",
                "norm_1.bias",
                *(f"{part}.{each}" for part in inner[:4] for each in both),
                "norm_2.gain",
                "norm_2.bias",
                *(f"{part}.{each}" for part in inner[4:] for each in both),
            )
        ),
        "norm.gain",
        "norm.bias",
        "output.linear.weight",
    ]


def test_a_part_cannot_be_changed():
    model = random_decoder(VARIANTS["the modern recipe"])
    with pytest.raises(FrozenInstanceError):
        model.norm = None
    with pytest.raises(FrozenInstanceError):
        model.blocks[0].attention.query.weight = np.zeros((16, 16))


def test_replacing_leaves_the_original_as_it_was():
    model = random_decoder(VARIANTS["the modern recipe"])
    before = {name: p.copy() for name, p in model.parameters().items()}
    zeros = model.with_parameters(lambda _, p: np.zeros_like(p))
    assert not any(p.any() for p in zeros.parameters().values())
    assert all((p == before[name]).all() for name, p in model.parameters().items())


@every_variant
def test_the_matrices_between_hidden_vectors_are_those_of_the_blocks(configuration):
    model = random_decoder(configuration)
    expected = [
        name for name, x in model.parameters().items() if name.startswith("blocks.") and x.ndim == 2
    ]
    assert expected
    assert list(model.hidden_matrices()) == expected


def test_in_other_models_they_are_those_of_the_blocks_too():
    """Of models that read and write both sides; a recurrent model has none yet."""
    configurations = {
        "encoder-decoder": {"vocabulary": 9, "layers": 1, "heads": 2, "embed": 4, "context": 6},
        "seq2seq": {"vocabulary": 9, "layers": 1, "embed": 4, "hidden": 5, "context": 6},
        "gru": {"vocabulary": 9, "layers": 1, "embed": 4, "hidden": 5, "context": 6},
    }
    found = {}
    for kind, sizes in configurations.items():
        model = build(KINDS[kind].configuration(**sizes), np.random.default_rng(0))
        found[kind] = {name.split(".blocks.")[0] for name in model.hidden_matrices()}
    assert found == {"encoder-decoder": {"encoder", "decoder"}, "seq2seq": set(), "gru": set()}
