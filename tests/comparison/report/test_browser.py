"""The report in a real browser: Debian's Chromium, driven by Playwright."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from clearformer.comparison.report.alone import alone, pictures_of
from clearformer.comparison.report.drawing import DASHES
from clearformer.comparison.report.heat import heat
from clearformer.comparison.report.page import LANGUAGES, report_of
from comparison.report.example import example

CHROMIUM = Path("/usr/bin/chromium")

pytestmark = [
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no {CHROMIUM}"),
]

OVERFLOWS = """() => [...document.querySelectorAll('body *')].filter(e =>
  !e.closest('.scroll, svg, script, caption') && e.getBoundingClientRect().right > innerWidth + 1
).map(e => e.tagName + '.' + e.className)"""

OUTSIDE = """() => [...document.querySelectorAll('svg text')].filter(e => {
  const text = e.getBoundingClientRect(), card = e.closest('figure')?.getBoundingClientRect();
  return text.width && card && (text.left < card.left - 1 || text.right > card.right + 1);
}).map(e => e.textContent)"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # the pages are ours, and a container has no other sandbox
        found = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for language in LANGUAGES:
        (folder / f"{language}.html").write_text(report_of(example(), language), "utf-8")
    return folder


@pytest.fixture(scope="module")
def windows(browser, pages):
    """Opens a report in a window, once; whatever the browser complains of is kept beside."""
    there, complaints = {}, []

    def open_(*asked):
        if asked not in there:
            there[asked] = opened_anew(*asked)
        return there[asked]

    def opened_anew(language, width, scheme):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url)
                if not request.url.startswith("file:") else None)  # fmt: skip
        page.goto((pages / f"{language}.html").as_uri())
        return page

    return open_, complaints


@pytest.fixture
def opened(windows):
    """A report as it is when it is opened."""
    open_, complaints = windows

    def page_of(language="en", width=1280, scheme="light"):
        page = open_(language, width, scheme)
        page.emulate_media(media="screen", color_scheme=scheme)
        page.evaluate("document.querySelectorAll('details').forEach(e => e.open = false)")
        return page

    yield page_of
    assert complaints == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [1280, 900, 701, 390])
def test_nothing_is_wider_than_the_window(opened, language, width):
    page = opened(language, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWS) == []
    assert page.evaluate(OUTSIDE) == []


SCROLLED = """() => [...document.querySelectorAll('.scroll')].filter(
  e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label'))"""

SMALLEST = """() => Math.min(...[...document.querySelectorAll('svg text:not(.token)')].filter(
  e => e.getBoundingClientRect().width
).map(e => parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.getScreenCTM().a))"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [1280, 900])
def test_tables_are_seen_whole(opened, language, width):
    assert opened(language, width).evaluate(SCROLLED) == []


@pytest.mark.parametrize("width", [1280, 900, 701, 390])
def test_letters_in_pictures_stay_large_enough_to_read(opened, width):
    assert opened(width=width).evaluate(SMALLEST) >= 10


@pytest.mark.parametrize(
    ("width", "shown", "other"), [(1280, "wide", "narrow"), (390, "narrow", "wide")]
)
def test_every_picture_is_seen_in_one_of_its_two_forms(opened, width, shown, other):
    page = opened(width=width)
    seen = page.locator(f"svg.{shown}")
    assert seen.count() > 5
    for number in range(seen.count()):
        box = seen.nth(number).bounding_box()
        assert box is not None and box["width"] > 250 and box["height"] > 80
    assert all(not each.is_visible() for each in page.locator(f"svg.{other}").all())


ALONE_OUTSIDE = """() => {
  const frame = document.documentElement.getBoundingClientRect();
  return [...document.querySelectorAll('text')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom;
  }).map(e => e.textContent);
}"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_picture_alone_has_room_for_all_its_words(browser, tmp_path, language):
    source = [*"17 May", "⟨end⟩"]
    drawn = pictures_of(example(), language)
    drawn["alignment"] = alone(heat(source, source, [[0.2] * 7] * 7, "title", "description"))
    page = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True).new_page()
    for name, picture in drawn.items():
        place = tmp_path / f"{name}.svg"
        place.write_text(picture, "utf-8")
        page.goto(place.as_uri())
        assert page.evaluate(ALONE_OUTSIDE) == [], name
    page.context.close()


def contrast(page, selector):
    """Of a text to the page behind it (WCAG 2.2, relative luminance)."""
    return page.evaluate(
        """selector => {
          const parse = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const light = rgb => rgb.map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
          const paper = light(parse(getComputedStyle(document.body).backgroundColor));
          return Math.min(...[...document.querySelectorAll(selector)].map(e => {
            const style = getComputedStyle(e);
            const ink = light(parse(e.closest('svg') ? style.fill : style.color));
            return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
          }));
        }""",
        selector,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_in_dark(opened, scheme):
    page = opened(scheme=scheme)
    for selector in ("p", "td", "th", "a", "summary", "svg text.label", "svg text.series"):
        assert contrast(page, selector) >= 4.5, selector


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_colour_of_a_line_stands_out(opened, scheme):
    page = opened(scheme=scheme)
    page.evaluate(
        """count => [...Array(count).keys()].forEach(n => document.body.insertAdjacentHTML(
          'beforeend', `<p class="try" style="color: var(--c${n})">x</p>`))""",
        len(DASHES),
    )
    assert contrast(page, ".try") >= 4.5


def test_dark_is_dark(opened):
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = opened(scheme="light").evaluate(colour), opened(scheme="dark").evaluate(colour)
    assert sum(map(int, light[4:-1].split(","))) > 600
    assert sum(map(int, dark[4:-1].split(","))) < 150


def test_the_numbers_unfold_by_keyboard(opened):
    page = opened()
    summary = page.locator("summary").first
    summary.focus()
    assert not page.locator("details table").first.is_visible()
    page.keyboard.press("Enter")
    assert page.locator("details table").first.is_visible()


def test_a_program_finds_the_document(opened):
    page = opened()
    found = page.evaluate(
        "JSON.parse(document.getElementById('clearformer-comparison').textContent)"
    )
    assert found["results"][0]["model"] == "ngram"


def test_a_sample_with_markup_stays_text(opened):
    page = opened()
    assert "<script>alert('&')</script>" in page.locator("blockquote").first.inner_text()


def test_on_paper_the_numbers_are_unfolded(opened):
    page = opened()
    page.emulate_media(media="print")
    assert page.locator("details table").first.is_visible()
    assert not page.locator("nav").is_visible()


def test_a_picture_can_be_taken(opened, tmp_path):
    place = tmp_path / "report.png"
    opened("ja").screenshot(path=str(place), full_page=True)
    assert place.stat().st_size > 50_000
