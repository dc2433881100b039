"""Laws of the sizes: counted before anything is built, and equal to a decoder's."""

import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS, build
from clearformer.models.recurrent.configuration import GRUConfiguration, LSTMConfiguration

from .small import SIZES, VARIANTS, every_kind, every_variant


@every_variant
def test_parameters_are_counted_as_they_are_built(configuration):
    assert configuration.parameter_count == build(configuration, None).parameter_count()


@every_kind
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("size", ["tiny", "small", "medium", "large"])
@pytest.mark.parametrize("vocabulary", [2, 65, 3000, 50_000])
def test_a_size_has_as_many_parameters_as_the_decoder_of_that_size(kind, tied, size, vocabulary):
    ours, decoder = (
        KINDS[name].configuration(vocabulary, tied=tied, **KINDS[name].sizes[size])
        for name in (kind, "decoder")
    )
    assert ours.parameter_count == pytest.approx(decoder.parameter_count, rel=0.02)
    assert ours.completed.parameter_count == ours.parameter_count


@every_kind
@pytest.mark.parametrize("tied", [False, True])
def test_no_other_width_comes_nearer(kind, tied):
    one = KINDS[kind].configuration(65, tied=tied, layers=3, embed=32)
    wanted = 12 * 2 * 3 * 32**2 + 65 * 32 * (1 if tied else 2)
    width = one.completed.hidden

    def away(hidden):
        return abs(
            type(one)(65, tied=tied, layers=3, embed=32, hidden=hidden).parameter_count - wanted
        )

    assert away(width) <= min(away(width - 1), away(width + 1))


@every_variant
def test_a_configuration_comes_back_from_json_complete(configuration):
    document = configuration.to_json()
    assert None not in document.values()
    assert type(configuration).from_json(document) == configuration.completed


def test_operations_are_those_of_the_products():
    one = LSTMConfiguration(**SIZES)
    numbers = 4 * 5 * (6 + 5) + 4 * 5 * (5 + 5) + 5 * 11
    assert one.operations(3) == 6 * 3 * 8 * numbers
    tied = LSTMConfiguration(**SIZES, tied=True)
    assert tied.operations(1) == 6 * 8 * (numbers - 5 * 11 + 5 * 6 + 6 * 11)


def test_impossible_sizes_are_counted_all_the_same():
    one = LSTMConfiguration(2**40, layers=2**40, embed=2**40)
    assert one.parameter_count > 2**100


@pytest.mark.parametrize(
    ("dials", "message"),
    [
        ({"layers": 0}, "layers must be a whole number of at least 1; got 0"),
        ({"hidden": 2**41}, "hidden must be a whole number of at most"),
        ({"embed": True}, "embed must be a whole number"),
        ({"tied": 1.5}, "tied must be true or false; got 1.5"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
        ({"reset": "never"}, "reset must be one of after, before; got 'never'"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_cannot_be_is_refused(dials, message):
    with pytest.raises(ConfigurationError, match=message):
        GRUConfiguration(9, **dials)


def test_variants_are_all_different():
    assert len({repr(one) for one in VARIANTS.values()}) == len(VARIANTS)
