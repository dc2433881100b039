import re
import unicodedata

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.explanation.lines import cell_width, plain, shortened, visible, wrapped
from clearformer.explanation.render import render
from clearformer.explanation.tables import Table, number, pick, table_lines

from .runs import run_of

SENTENCE = "I like small models"
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたか"


def text_of(table: Table, width: int = 80) -> list[str]:
    return plain(table_lines(table, width)).splitlines()


def test_every_stage_is_shown_with_its_name_and_shape():
    for trace in (cf.explain(SENTENCE), cf.explain(SENTENCE, causal=True, heads=2)):
        text = trace.text(100)
        for stage in trace:
            shape = ", ".join(f"{a} {n}" for a, n in zip(stage.axes, stage.shape, strict=True))
            assert re.search(rf"\d  {re.escape(stage.name)} .*\({shape}\)", text), stage.name


def test_the_numbers_of_the_text_are_those_of_the_trace():
    trace = cf.explain(SENTENCE)
    words = " ".join(trace.text(80).split())
    for name in ("positioned", "blocks.0.attention.products", "blocks.0.attention.weights"):
        for row in trace[name][0]:
            assert " ".join(f"{v:.3f}" for v in row) in words


def test_each_row_of_the_weights_shows_its_sum():
    text = cf.explain(SENTENCE).text(80)
    rows = text.split("attention.weights")[1].split("takes most")[0].split("row)")[1].splitlines()
    assert [row.split()[-1] for row in rows if row.startswith("      ")] == ["sum"] + ["1.000"] * 4


def test_masked_cells_are_marked_and_no_number_stands_there():
    text = cf.explain(SENTENCE, causal=True).text(80)
    for name in ("masked_scores", "weights"):
        rows = text.split(f"blocks.0.attention.{name} ")[1].splitlines()
        (first,) = [row for row in rows[:12] if row.split()[:1] == ["I"]]
        assert first.split()[2:5] == ["·"] * 3


def test_the_division_is_shown_with_real_numbers():
    trace = cf.explain(SENTENCE)
    products = np.asarray(trace["blocks.0.attention.products"][0], np.float64)
    plainly = np.exp(products - products.max(-1, keepdims=True))
    plainly /= plainly.sum(-1, keepdims=True)
    text = trace.text(80)
    assert "Why are the products divided by √8" in text
    row = next(line for line in text.splitlines() if "not divided" in line)
    shown = [float(n) for n in row.split()[2:]]
    assert min(np.abs(plainly - shown).max(-1)) < 6e-4
    assert number(float(products.std())) in text
    divided = next(line for line in text.splitlines() if line.lstrip().startswith("divided"))
    shown = [float(n) for n in divided.split()[1:]]
    assert min(np.abs(trace["blocks.0.attention.weights"][0] - shown).max(-1)) < 6e-4


def test_an_edited_trace_marks_the_step_and_shows_before_and_now():
    text = cf.explain(SENTENCE, edits={"blocks.0.attention.weights": 0.25}).text(80)
    assert re.search(r"blocks\.0\.attention\.weights  edited", text)
    assert "before" in text and "Why are the products divided" not in text


def test_a_lesson_says_that_it_is_not_trained_and_how_to_train():
    text = cf.explain(SENTENCE).text(80)
    assert "untrained" in text and "clearformer train" in text


def test_a_shifted_number_is_worked_out_from_two_tokens():
    run = run_of()
    trace = run.explain("to be")
    shares = run.model.parameters()["shift.share"]
    share, before, own = (float(n) for n in (shares[0], *trace["embedding"][0, -2:, 0]))
    words = " ".join(trace.text(80).split())
    parts = [number(n) for n in (own, share, before, own + share * before)]
    assert "For example shifted[e, 0] = {} + {} × {} = {}".format(*parts) in words
    low, high = (number(float(bound)) for bound in (shares.min(), shares.max()))
    assert f"between {low} and {high}" in words
    assert "positioned = shifted" in words


@pytest.mark.parametrize(("sentence", "edits"), [("t", {}), ("to be", {"shifted": 1})])
def test_what_no_share_was_added_to_is_not_worked_out(sentence, edits):
    text = run_of().explain(sentence, edits=edits).text(80)
    assert "4  shifted" in text and "For example shifted" not in text


def test_a_model_without_token_shift_does_not_speak_of_it():
    for trace in (cf.explain(SENTENCE), run_of(token_shift=False).explain("to be")):
        assert "shifted[" not in trace.text(80) and "shifted" not in trace
        assert "positioned = embedding" in trace.text(80)


def test_notes_are_shown():
    assert "note: " in run_of().explain("to Z be").text(80)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    "sentence", [SENTENCE, JAPANESE, "a", "internationalisation of " * 9 + "x"]
)
def test_tables_and_prose_stay_within_the_page(width, sentence):
    for trace in (cf.explain(sentence), cf.explain(sentence, causal=True, heads=2)):
        for line in trace.text(width).splitlines():
            if "clearformer explain" not in line and not line.lstrip().startswith("position["):
                assert cell_width(line) <= width, line


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"recipe": "classic"},
        {"activation": "swiglu"},
        {"key_value_heads": 2},
        {"heads": 1, "layers": 1},
    ],
)
@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
def test_every_kind_of_model_can_be_shown(options, kind):
    trace = run_of(kind, **options).explain("to be, 猫")
    for line in trace.text(80).splitlines():
        assert cell_width(line) <= 80


def test_any_layer_and_head_can_be_shown():
    run = run_of()
    every = run.explain("to be")
    for layer in range(2):
        for head in (0, 3):
            text = every.text(80, layer=layer, head=head)
            assert f"Layer {layer}, head {head}" in text
            assert text.count(f"blocks.{layer}.attention.weights") == 1
            one = run.explain("to be", layer=layer, head=head)
            weights = one[f"blocks.{layer}.attention.weights"]
            assert number(float(weights[0, -1, 1])) in text


def test_a_layer_or_head_that_is_not_there_is_refused():
    trace = run_of().explain("to be", layer=0, head=1)
    for options in ({"layer": 2}, {"head": 4}, {"layer": 1}, {"head": 0}):
        with pytest.raises(ConfigurationError):
            trace.text(80, **options)


def test_print_shows_the_text():
    trace = cf.explain(SENTENCE)
    assert str(trace) == trace.text() == plain(render(trace))
    assert "\n" not in repr(trace)


def test_no_control_character_reaches_the_text():
    trace = cf.explain("red\x1b[31m \u202edrow\x07 a\r\nb\u200b \x9b2J")
    text = trace.text(80)
    assert not [c for c in text if unicodedata.category(c)[0] == "C" and c != "\n"]
    assert "<U+001B>" in text and "⏎" in text


def test_visible_is_reversible_in_the_mind():
    assert visible("a b\n") == "a␣b⏎"
    assert visible("\u0301") == "\u25cc\u0301"
    assert visible("猫") == "猫"


def test_full_width_characters_count_two_columns():
    assert cell_width("猫a") == 3 and cell_width("e\u0301") == 1
    assert shortened("吾輩は猫である", 6) == "吾輩…"
    assert cell_width(shortened("吾輩は猫である", 6)) <= 6


def test_columns_stay_aligned_in_japanese():
    values = np.arange(9.0).reshape(3, 3)
    lines = text_of(Table(["猫", "a", "吾輩"], ["猫", "トンネル", "b"], values))
    assert len({cell_width(line) for line in lines}) == 1


def test_a_table_says_what_it_leaves_out():
    values = np.arange(40.0 * 50).reshape(40, 50)
    lines = text_of(Table([f"t{i}" for i in range(40)], [f"c{i}" for i in range(50)], values))
    assert "… 24 more" in "\n".join(lines)
    shown = [word for word in lines[0].split() if word.startswith("c")]
    (left_out,) = re.findall(r"…(\d+) more", lines[0])
    assert len(shown) + int(left_out) == 50
    assert lines[0].split()[-1] == "c49" and lines[0].split()[0] == "c0"


@pytest.mark.parametrize("count", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("most", [1, 2, 3, 8])
@pytest.mark.parametrize("order", ["ends", "start"])
def test_what_is_picked_and_what_is_left_out_are_all(count, most, order):
    picked = pick(count, most, order)
    shown = [i for i in picked if i is not None]
    assert shown == sorted(set(shown)) and len(shown) == min(count, most)
    assert (None in picked) == (count > most)


def test_numbers_have_three_decimals_and_no_minus_zero():
    assert number(-0.0001) == "0.000" and number(-1.5) == "-1.500"
    assert number(1e9) == "1e+09" and number(float("-inf")) == "−∞"


def test_prose_is_broken_at_spaces_only():
    lines = list(wrapped("one two\u00a0three four", 9))
    assert lines == ["one", "two three", "four"]


@pytest.mark.parametrize("width", range(6, 30))
def test_japanese_is_broken_between_letters_but_not_before_a_full_stop(width):
    text = "「名前」はまだ無い。softmax (最後の軸) を取り、スコアー（全部）を割ってください。"
    lines = list(wrapped(text, width))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert not any(line[0] in "、。）」ー)" or line[-1] in "（「(" for line in lines)
    longest = max(map(cell_width, ("softmax", "スコアー（", "い。")))
    assert all(cell_width(line) <= max(width, longest) for line in lines)
    if width > longest:
        assert all(cell_width(line) >= width - longest for line in lines[:-1])


def test_one_japanese_sentence_is_broken_as_written_here():
    assert list(wrapped("列ごとに割っています。行です", 16)) == ["列ごとに割ってい", "ます。行です"]
    assert list(wrapped("割っています。", 12)) == ["割っていま", "す。"]
    assert list(wrapped("第\u00a01\u00a0層です", 6)) == ["第 1 層", "です"]
