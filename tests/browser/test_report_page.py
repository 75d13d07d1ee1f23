# SPDX-License-Identifier: Apache-2.0
"""A report as a reader sees it: each width and colour scheme in a real browser.

MERGEWISE_SCREENSHOTS=DIR keeps the pictures. Without a browser the tests are skipped; in CI
(the variable CI is set) they fail, so that nobody believes they ran.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import Browser, find
from needs import skip_or_fail

ROOT = Path(__file__).parents[2]
SAMPLES = {
    "quickstart": "sample_results.py", "troubled": "sample_results.py", "compressors": "sample_results.py",
    "small": "sample_simulation.py", "compressed": "sample_simulation.py",
}  # fmt: skip
WIDTHS = (1280, 400)
SCHEMES = ("light", "dark")
PAGE_COLOURS = {"light": "rgb(246, 245, 242)", "dark": "rgb(18, 21, 25)"}


@pytest.fixture(scope="session")
def browser():
    path = find()
    if path is None:
        skip_or_fail("no Chromium on PATH (Debian: apt-get install chromium)")
    with Browser(path) as started:
        yield started


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """The sample reports by name, made by the command as a user runs it."""
    folder = tmp_path_factory.mktemp("reports")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "reports")}
    made = {}
    for name, program in SAMPLES.items():
        result, page = folder / f"{name}.json", folder / f"{name}.html"
        maker = ROOT / "reports/tests" / program
        subprocess.run([sys.executable, maker, name, "-o", result], check=True)
        command = [sys.executable, "-m", "mergewise_report", "html", result, "-o", page]
        subprocess.run(command, env=environment, check=True)
        made[name] = page
    return made


@pytest.fixture(
    params=[(s, w, c) for s in SAMPLES for w in WIDTHS for c in SCHEMES], ids=str, scope="module"
)
def opened(request, browser, pages):
    """A browser that shows one of the variants."""
    sample, width, scheme = request.param
    browser.open(pages[sample], width, scheme=scheme)
    keep = os.environ.get("MERGEWISE_SCREENSHOTS")
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        browser.screenshot(Path(keep) / f"{sample}-{width}-{scheme}.png")
    return browser, pages[sample], width, scheme


def test_the_variant_is_what_it_claims_to_be(opened):
    browser, _, width, scheme = opened
    assert browser.evaluate("window.innerWidth") == width
    assert browser.evaluate(f"matchMedia('(prefers-color-scheme: {scheme})').matches")
    background = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == PAGE_COLOURS[scheme]


def test_nothing_overflows_sideways(opened):
    browser, _, width, _ = opened
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width
    outside = browser.evaluate(
        """[...document.querySelectorAll('main *')].filter(e => {
          const box = e.getBoundingClientRect();
          return box.width > 0 && box.right > innerWidth + 0.5 && !e.closest('.scroll, pre');
        }).map(e => e.tagName + ' ' + (e.textContent || '').slice(0, 40))"""
    )
    assert outside == []


def test_the_console_stays_silent(opened):
    browser, *_ = opened
    assert browser.complaints() == []


def test_nothing_is_fetched_but_the_page(opened):
    browser, page, *_ = opened
    # The icon is an empty data: URL, so that a server is not asked for one.
    asked = [url for url in browser.requests() if not url.startswith("data:")]
    assert asked == [page.as_uri()]


def test_exactly_one_rendition_of_each_figure_shows(opened):
    browser, _, width, _ = opened
    shown = "wide" if width > 860 else "narrow"
    hidden = "narrow" if width > 860 else "wide"
    count = (
        "[...document.querySelectorAll('.{} svg')].filter(e => e.getClientRects().length).length"
    )
    assert browser.evaluate(count.format(shown)) >= 5
    assert browser.evaluate(count.format(hidden)) == 0


def test_text_in_figures_is_large_enough_to_read(opened):
    browser, *_ = opened
    least = browser.evaluate(
        """Math.min(...[...document.querySelectorAll('svg text')]
          .filter(e => e.getClientRects().length)
          .map(e => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a))"""
    )
    assert least >= 9.5


def test_text_in_figures_stays_inside_and_apart(opened):
    browser, *_ = opened
    bad = browser.evaluate(
        """(() => {
          const bad = [];
          for (const svg of document.querySelectorAll('svg')) {
            if (!svg.getClientRects().length) continue;
            const frame = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
            texts.forEach(([text, a], i) => {
              if (a.left < frame.left - 6 || a.right > frame.right + 6) bad.push('outside: ' + text);
              for (const [other, b] of texts.slice(i + 1)) {
                const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (width > 1 && height > 0.35 * Math.min(a.height, b.height)) bad.push(text + ' over ' + other);
              }
            });
          }
          return bad;
        })()"""
    )
    assert bad == []


def test_text_in_maps_fits_its_square(opened):
    browser, *_ = opened
    cut = browser.evaluate(
        """[...document.querySelectorAll('.map td, .map th')]
          .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"""
    )
    assert cut == []


def test_text_has_enough_contrast(opened):
    """WCAG AA: 4.5 to 1 for the page's text colours on what they stand on."""
    browser, *_ = opened
    ratios = browser.evaluate(
        """(() => {
          const style = getComputedStyle(document.documentElement);
          const light = name => {
            const hex = style.getPropertyValue(name).trim();
            const [r, g, b] = [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255)
              .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const pairs = [['--ink', '--page'], ['--ink', '--panel'], ['--muted', '--page'], ['--muted', '--panel'],
            ['--mark', '--page'], ['--bad', '--panel'], ['--bad', '--failure'], ['--caution-ink', '--caution'],
            ['--ink', '--below']];
          for (let i = 0; i < 10; ++i) pairs.push(['--on-fill', '--f' + i], ['--ink', '--p' + i]);
          for (let i = 0; i < 4; ++i) for (const n of ['gain', 'loss', 'far']) pairs.push(['--ink', '--' + n + i]);
          return Object.fromEntries(pairs.map(([a, b]) => {
            const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
            return [a + ' on ' + b, (x + 0.05) / (y + 0.05)];
          }));
        })()"""
    )
    assert {pair: ratio for pair, ratio in ratios.items() if not ratio >= 4.5} == {}


@pytest.mark.parametrize("width", [880, 861, 860, 700, 500, 320])
@pytest.mark.parametrize("sample", ["troubled", "compressed"])
def test_no_width_in_between_overflows(browser, pages, sample, width):
    browser.open(pages[sample], width)
    assert browser.evaluate("document.scrollingElement.scrollWidth") <= width


def test_print_is_light_and_wide_even_in_the_dark(browser, pages):
    browser.open(pages["quickstart"], 1000, scheme="dark", media="print")
    assert (
        browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert browser.evaluate("getComputedStyle(document.querySelector('.wide')).display") == "block"


def test_markup_in_a_name_does_nothing(browser, tmp_path):
    import json

    result, page = tmp_path / "result.json", tmp_path / "page.html"
    maker = ROOT / "reports/tests/sample_results.py"
    subprocess.run([sys.executable, maker, "quickstart", "-o", result], check=True)
    document = json.loads(result.read_text())
    document["name"] = (
        "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
    )
    for case in document["cases"]:
        case["workload"]["name"] = document["name"]
    result.write_text(json.dumps(document))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "reports")}
    command = [sys.executable, "-m", "mergewise_report", "html", result, "-o", page]
    subprocess.run(command, env=environment, check=True)
    browser.open(page, 1280)
    assert browser.evaluate("document.title") != "owned"
    assert browser.evaluate("document.querySelector('h1').textContent") == document["name"]
    assert browser.evaluate("document.querySelectorAll('script, img').length") == 0
    assert browser.complaints() == []
