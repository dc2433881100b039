import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from string import Formatter

import pytest

from clearformer.comparison.document import Comparison, Point
from clearformer.comparison.findings import findings_of
from clearformer.comparison.notes import notes_of
from clearformer.comparison.report.curves import _line
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.japanese import JAPANESE
from clearformer.comparison.report.page import DATA, LANGUAGES, report_of
from clearformer.comparison.report.sizes import sizes_in
from clearformer.comparison.report.view import View
from clearformer.comparison.why.fading import TRACES
from clearformer.comparison.why.reasons import Reasons
from clearformer.errors import ConfigurationError
from comparison.report.example import as_figures, by_recall, example, lesson

EMPTY = {"meta"}


class Page(HTMLParser):
    """What a parser finds in the page; it raises where elements are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.links, self.ids, self.values, self.text = [], [], [], [], []
        self.tables, self.loaded, self.counts = {}, [], {}
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if tag not in EMPTY:
            self.open.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if "data-value" in found:
            self.values.append(float(found["data-value"]))
        self.links += [found["href"]] if "href" in found else []
        self.loaded += [found[key] for key in ("src", "srcset", "action", "data") if key in found]

    def handle_startendtag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))

    def inside(self, tag):
        return [data for name, data in self.text if name == tag]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("made", [example, by_recall, lambda: example(seeds=1)])
def test_the_page_is_well_formed(language, made):
    page = Page(report_of(made(), language))
    assert page.counts["h1"] == 1
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_loads_nothing_and_runs_nothing(language):
    written = report_of(example(), language)
    page = Page(written)
    assert page.loaded == []
    assert page.counts["script"] == 1 and 'type="application/json"' in written
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"url\(|@import|https?://", written)
    assert " on" not in " ".join(re.findall(r"<[^>]*\son\w+=", written))


def test_the_document_is_in_the_page():
    comparison = example()
    page = Page(report_of(comparison))
    document = json.loads(page.inside("script")[0])
    assert DATA in page.ids
    assert Comparison.from_json(document) == comparison


def test_every_number_of_the_tables_is_one_of_the_document():
    comparison = example()
    document, reasons = comparison.to_json(), comparison.why
    known = set(numbers(document))
    read = Reasons.from_json(reasons, comparison.temperature)
    shares = {each.relative(back) for each in read.fading for back in TRACES}
    values = Page(report_of(comparison)).values
    assert len(values) > 100
    assert set(values) <= known | shares


def test_every_mean_of_the_document_is_in_a_table():
    comparison = example()
    values = set(Page(report_of(comparison)).values)
    for measures in comparison.summary.values():
        assert {found["mean"] for found in measures.values()} <= values
    assert {each["value"] for each in as_figures(lesson())} <= values


def numbers(document):
    if isinstance(document, dict):
        for value in document.values():
            yield from numbers(value)
    elif isinstance(document, list):
        for value in document:
            yield from numbers(value)
    elif isinstance(document, int | float):
        yield float(document)


def test_text_of_a_model_stays_text():
    written = report_of(example())
    page = Page(written)
    assert "<script>alert" not in written
    assert any("<script>alert('&')</script>" in text for text in page.inside("blockquote"))
    assert "\x1b" not in written and "\\x1b[31m" in written


@pytest.mark.parametrize("nasty", ["</script><script>x", "<!--", "]]>", "\ud800", '" onload="x'])
def test_no_text_leaves_its_place(nasty):
    page = Page(report_of(example(sample=nasty)).encode("utf-8").decode("utf-8"))
    assert page.counts["script"] == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_comparison_gives_the_same_page(language):
    again = Comparison.from_json(json.loads(json.dumps(example().to_json())))
    assert report_of(again, language) == report_of(example(), language)


def test_no_language_lacks_a_word_or_a_number():
    assert JAPANESE.keys() == ENGLISH.keys()
    for key, words in ENGLISH.items():
        assert fields(JAPANESE[key]) == fields(words), key


def test_words_have_single_spaces():
    for words in (*ENGLISH.values(), *JAPANESE.values()):
        assert "  " not in words


def fields(words):
    return {name for _, name, _, _ in Formatter().parse(words) if name}


def test_another_language_is_refused():
    with pytest.raises(ConfigurationError, match="one of en, ja"):
        report_of(example(), "fr")


def test_what_was_not_measured_has_no_part():
    bare = example().with_why(why={}, temperature={}, lesson=None)
    page = Page(report_of(bare))
    assert not {"seen", "fading", "growth", "looking", "temperature", "samples", "lesson"} & set(
        page.ids
    )
    assert {"results", "curves", "method", "careful"} <= set(page.ids)


def test_a_difference_is_told_only_where_intervals_are_apart():
    assert "does best" in Page(report_of(example())).inside("h1")[0]
    near = example()
    for measures in near.summary.values():
        measures["bits_per_character"].update(low=1.0, high=9.0)
    assert "is level with" in Page(report_of(near)).inside("h1")[0]
    assert "luck" in Page(report_of(example(seeds=1))).inside("h1")[0]


def test_every_picture_says_what_it_shows():
    written = report_of(example())
    pictures = re.findall(r"<svg[^>]*>", written)
    assert pictures
    assert all('role="img"' in each and "aria-label=" in each for each in pictures)
    assert written.count("<title>") >= len(pictures)


def told(comparison):
    """The same with the findings and notes that it would have told."""
    comparison = replace(comparison, findings=findings_of(comparison))
    return replace(comparison, notes=notes_of(comparison))


@pytest.mark.parametrize("made", [example, by_recall, lambda: example(seeds=1)])
def test_findings_and_notes_are_in_the_language_of_the_page(made):
    comparison = told(made())
    assert comparison.notes
    for words, language in ((ENGLISH, "en"), (JAPANESE, "ja")):
        written = report_of(comparison, language)
        labels = View(comparison, words).labels
        for sentence in findings_of(comparison, words, labels)[1:]:
            assert f'<p lang="{language}">{escape(sentence, quote=False)}</p>' in written
        for note in notes_of(comparison, words, labels):
            assert escape(note[1:], quote=False) in written
    other = ' lang="en"'
    assert other not in report_of(comparison, "ja")


def test_sizes_and_how_memory_was_measured_are_in_the_language_of_the_page():
    sizes = "2 layers, both ways, hidden 60,\nembed 19, context 1"
    assert sizes_in(ENGLISH, sizes) == " ".join(sizes.split())
    assert sizes_in(JAPANESE, sizes) == "2 層、双方向、隠れ状態 60、埋め込み 19、文脈 1"
    assert sizes_in(JAPANESE, "1 + 1 layers, 1 head, order 10") == "1 + 1 層、1 ヘッド、次数 10"
    assert sizes_in(JAPANESE, "what nobody knows, wide 3") == "what nobody knows、wide 3"
    made = example()
    for engine in ("numpy", "torch"):
        key = f"memory_{engine}"
        measured = replace(made, machine={**made.machine, "memory": ENGLISH[key]})
        assert escape(JAPANESE[key], quote=False) in report_of(measured, "ja")
        assert escape(ENGLISH[key], quote=False) in report_of(measured)


def test_what_nobody_can_translate_stays_as_it_is():
    written = report_of(example(), "ja")
    assert '<p lang="en">Behind it: decoder &amp; ngram.</p>' in written
    assert '<li lang="en">A note.</li>' in written


def test_counting_is_said_to_be_better_only_where_intervals_are_apart():
    comparison = example()
    counted = comparison.summary["ngram"]["bits_per_character"]
    counted.update(low=counted["mean"], high=counted["mean"])
    assert "Counting alone does better than rnn and decoder." in findings_of(comparison)
    for measures in comparison.summary.values():
        measures["bits_per_character"].update(low=1.0, high=9.0)
    assert not any("Counting" in finding for finding in findings_of(comparison))


def test_what_a_clock_decides_has_a_range_and_no_interval():
    page = Page(report_of(example(seeds=2)))
    assert "14.2 – 15.2" in page.inside("small")
    assert not any("±" in text and "14." in text for text in page.inside("td"))
    assert any("12.7 standard errors" in text for text in page.inside("li"))
    assert not any(
        "12.7 standard errors" in text for text in Page(report_of(example())).inside("li")
    )


def test_a_curve_ends_at_the_mean_of_its_seeds():
    fast = tuple(Point(100 * n, 1.0 * n, 3.0 - n / 10) for n in range(1, 11))
    slow = tuple(Point(100 * n, 3.0 * n, 3.0 - n / 10) for n in range(1, 11))
    drawn = _line("a", 1, {0: fast, 1: slow}, "seconds")
    assert drawn.points[0] == (2.0, 2.9)
    assert drawn.points[-1] == (20.0, 2.0)
    assert _line("a", 1, {0: fast, 1: slow}, "tokens").points[-1] == (1000.0, 2.0)
