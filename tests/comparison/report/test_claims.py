"""Laws of what the page claims: no more than what was measured shows, in either language."""

import pytest

from clearformer.comparison.findings import findings_of
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.growth import growth
from clearformer.comparison.report.japanese import JAPANESE
from clearformer.comparison.report.looking import looking
from clearformer.comparison.report.results import headline
from clearformer.comparison.report.view import View
from comparison.report.example import by_recall, example


def set_intervals(comparison, **ends):
    """The same with these means and ends of intervals on what the models are ranked by."""
    for name, (mean, low, high) in ends.items():
        found = comparison.summary[name][comparison.measure]
        found.update(mean=mean, low=low, high=high)
    return comparison


@pytest.mark.parametrize(
    ("words", "level", "apart"),
    [
        (
            ENGLISH,
            "n-gram has the best mean (2.788 bits per character), but is level with Transformer "
            "(4.200): the intervals overlap.",
            "n-gram does best: 2.788 bits per character. RNN follows with 3.911.",
        ),
        (
            JAPANESE,
            "平均が最も良いのは n-gram（2.788 ビット／文字）だが、Transformer（4.200）とは互角："
            "区間が重なっている。",
            "最も良いのは n-gram（2.788 ビット／文字）。次は RNN（3.911）。",
        ),
    ],
)
def test_the_headline_claims_no_more_than_the_finding(words, level, apart):
    near = {"ngram": (2.788, 2.788, 2.788), "rnn": (3.911, 3.9, 3.92)}
    wide = set_intervals(example(), **near, decoder=(4.2, 2.1, 6.3))
    assert "its interval overlaps that of decoder" in findings_of(wide)[0]
    assert headline(View(wide, words)) == level
    narrow = set_intervals(example(), **near, decoder=(4.2, 4.1, 4.3))
    assert "apart from all others" in findings_of(narrow)[0]
    assert headline(View(narrow, words)) == apart


@pytest.mark.parametrize(
    ("words", "page", "page_once", "terminal", "behind"),
    [
        (
            ENGLISH,
            "n-gram, RNN and Transformer are equal: 100.0 % right answers.",
            "n-gram, RNN and Transformer are equal: 100.0 % right answers, trained once each, "
            "so it may be luck.",
            "All have the same share of right answers, 1.000",
            "Behind",
        ),
        (
            JAPANESE,
            "n-gram、RNNとTransformerは等しい：正答率 100.0 %。",
            "n-gram、RNNとTransformerは等しい：正答率 100.0 %。学習は各 1 回なので、"
            "偶然かもしれない。",
            "正答率はどのモデルも同じ（1.000）",
            "続いて",
        ),
    ],
)
def test_equals_are_not_behind_each_other(words, page, page_once, terminal, behind):
    names = ("ngram", "rnn", "decoder")
    equal = set_intervals(by_recall(), **dict.fromkeys(names, (1.0, 1.0, 1.0)))
    found = findings_of(equal, words)
    assert headline(View(equal, words)) == page
    assert found[0] == terminal + ("." if words is ENGLISH else "。")
    assert not any(behind in sentence for sentence in found)
    once = set_intervals(by_recall(), **dict.fromkeys(names, (1.0, None, None)))
    assert headline(View(once, words)) == page_once
    assert findings_of(once, words)[0].startswith(terminal)
    assert findings_of(once, words)[0] != found[0]


def test_only_those_with_another_mean_are_behind():
    two = set_intervals(
        by_recall(), ngram=(1.0, 1.0, 1.0), rnn=(1.0, 1.0, 1.0), decoder=(0.5, 0.4, 0.6)
    )
    assert "overlaps that of rnn" in findings_of(two)[0]
    assert findings_of(two)[1].startswith("Behind it: decoder (")


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE])
@pytest.mark.parametrize(
    ("exponent", "low", "high", "key"),
    [
        (1.69, 1.55, 1.82, "less"),
        (1.95, 1.85, 2.05, "square"),
        (2.3, 2.1, 2.5, "more"),
        (1.69, None, None, "unsure"),
    ],
)
def test_the_square_is_claimed_only_where_the_interval_holds_it(words, exponent, low, high, key):
    made = example()
    alone = {**made.why["attention"], "exponent": exponent, "low": low, "high": high}
    written = growth(View(made.with_why(why={**made.why, "attention": alone}), words))
    figures = {"exponent": exponent, "low": low or 0.0, "high": high or 0.0}
    shown = {name: f"{figure:.2f}" for name, figure in figures.items()}
    said = {
        each: words[f"growth_{each}"].format(**shown)
        for each in ("less", "square", "more", "unsure")
    }
    assert [each for each in said if said[each] in written] == [key]


@pytest.mark.parametrize(("words", "named"), [(ENGLISH, "Layer 0, head 1"),
                                              (JAPANESE, "第 0 層、ヘッド 1")])  # fmt: skip
def test_layers_and_heads_are_counted_from_0_as_everywhere(words, named):
    written = looking(View(example(), words))
    assert named in written and ">0.1<" in written
    assert words["looking_shown"].format(layer=1, head=1) not in written
