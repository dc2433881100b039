import json

import pytest
from click.testing import CliRunner

import clearformer as cf
from clearformer.cli.explain import explain
from clearformer.errors import ClearformerError


def called(*arguments: str, **options):
    return CliRunner().invoke(explain, arguments, **options)


def test_without_arguments_it_is_the_first_lesson():
    result = called()
    assert result.exit_code == 0
    assert result.stdout.rstrip("\n") == cf.explain("I like small models").text()


def test_json_is_one_strict_document():
    def refused(constant: str) -> None:
        raise AssertionError(constant)

    result = called("I like small models", "--causal", "--json")
    document = json.loads(result.stdout, parse_constant=refused)
    assert document["ids"] == [2, 3, 4, 5]
    shapes = {stage["name"]: stage["shape"] for stage in document["stages"]}
    assert shapes["positioned"] == [1, 4, 8]
    assert shapes["blocks.0.attention.key_transposed"] == [1, 8, 4]
    masked = next(s for s in document["stages"] if s["name"].endswith("masked_scores"))
    assert masked["values"][0][0][1:] == [None, None, None]


def test_notes_go_to_standard_error_beside_json():
    result = called(" ".join(f"w{i}" for i in range(30)), "--json")
    assert "note: " in result.stderr
    json.loads(result.stdout)


def test_flags_reach_the_lesson():
    result = called("a b", "--embed", "6", "--heads", "3", "--seed", "4", "--projections",
                    "separate", "--head", "1", "--layer", "0", "--json")  # fmt: skip
    expected = cf.explain(
        "a b", embed=6, heads=3, seed=4, projections="separate", head=1, layer=0
    ).to_json()
    assert json.loads(result.stdout) == json.loads(json.dumps(expected))


def test_edits_can_be_repeated():
    result = called("a b", "--edit", "embedding=0", "--edit", "embedding[1,0]=2", "--json")
    stages = {stage["name"]: stage["values"] for stage in json.loads(result.stdout)["stages"]}
    assert stages["embedding"] == [[[0.0] * 8, [2.0] + [0.0] * 7]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("",),
        ("  ",),
        ("a", "--heads", "3"),
        ("a", "--layer", "9"),
        ("a", "--run", "nowhere-at-all"),
        ("a", "--edit", "scores=0"),
        ("a", "--embed", "1000000000"),
        ("a", "--run", "nowhere-at-all", "--embed", "8"),
    ],
)
def test_faults_are_errors_of_one_line(arguments):
    result = called(*arguments)
    assert isinstance(result.exception, ClearformerError)
    assert "\n" not in str(result.exception)
    assert result.stdout == ""


def test_help_teaches_with_examples():
    text = called("--help").stdout
    assert "clearformer explain" in text and "--edit" in text and "--json" in text


def test_a_terminal_that_lacks_characters_gets_marks_instead_of_an_error():
    result = CliRunner(charset="ascii").invoke(explain, ["猫 a"])
    assert result.exit_code == 0


def test_what_was_looked_at_can_be_drawn(tmp_path):
    file = tmp_path / "weights.svg"
    result = called("I like tea", "--picture", str(file))
    assert result.exit_code == 0
    assert result.stdout.rstrip("\n") == cf.explain("I like tea").text()
    assert f"is drawn in {file}" in result.stderr
    drawn = file.read_text("utf-8")
    assert drawn.startswith("<svg xmlns=") and drawn.count("<rect") == 9 and ">tea</text>" in drawn


def test_a_picture_for_which_there_is_no_place_is_refused_at_once(tmp_path):
    for place in (tmp_path, tmp_path / "missing" / "weights.svg"):
        result = called("I like tea", "--picture", str(place))
        assert result.exit_code == 2
        assert "--picture expects a file in a folder that is there" in result.stderr
        assert not result.stdout
