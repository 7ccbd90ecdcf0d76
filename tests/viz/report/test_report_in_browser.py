"""A report in a real browser: it loads nothing, runs nothing, reads in the dark, without scripts and on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gradtool
from gradtool.viz.debugger.cell import Cell
from gradtool.viz.document import session
from gradtool.viz.document.blocks import Document, Figure, Lines, Section
from gradtool.viz.document.html import to_html
from gradtool.viz.table import TextTable
from tests.viz.accessibility import violations
from tests.viz.chromium import Browser, Page, browser

HOSTILE = "</pre><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The report on a model with a hostile name, an excerpt, a finding and a NaN."""
    (tmp_path / "model.py").write_text(
        "import paddle\n"
        f"w = paddle.create_parameter([3], 'float32', name={HOSTILE!r})\n"
        "v = paddle.create_parameter([3], 'float32')\n"
        "loss = paddle.sqrt(w * 0.0 + v.detach() * 0.0).sum()\n",
        encoding="utf-8",
    )
    file = tmp_path / "report.html"
    gradtool.report(str(tmp_path / "model.py"), html=file)
    return file


def elsewhere(page: Page) -> list[str]:
    """What the page asked for beside itself and the pictures in it."""
    return [r for r in page.requests() if not r.startswith(("file:///", "data:image/svg+xml"))]


def test_it_opens_without_an_error_and_asks_for_nothing(chromium: Browser, report: Path) -> None:
    page = chromium.page(report)
    assert page.problems() == []
    assert elsewhere(page) == []
    assert [r.rpartition("/")[2] for r in page.requests() if r.startswith("file:")] == ["report.html"]
    assert page.run("window.ran") is None
    assert page.run("document.querySelectorAll('script, link, iframe, object').length") == 0
    assert page.run("document.querySelector('h1').innerText") == "Backward report of model.py"
    sections = page.run("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert sections == ["verdict", "gradients", "picture", "sizes", "nan", "source", "environment", "json"]
    assert "verdict: DETACHED" in page.run("document.getElementById('verdict').innerText")
    assert HOSTILE in page.run("document.querySelector('#gradients table').innerText")
    assert "BIRTH" in page.run("document.getElementById('nan').innerText")
    width = page.run("(i => i.complete && i.naturalWidth)(document.querySelector('#picture img'))")
    assert width > 400, "the picture was drawn"


def test_the_policy_holds_against_whatever_comes_in(chromium: Browser, report: Path) -> None:
    page = chromium.page(report)
    page.run(
        "{ const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); }"
    )
    page.run("document.body.setAttribute('onclick', 'window.ran = 1'); document.body.click()")
    assert page.run("window.ran") is None
    assert page.run("fetch('https://example.com/').then(() => 'went', () => 'refused')") == "refused"
    page.run("{ const i = new Image(); i.src = 'https://example.com/a.png'; document.body.append(i); }")
    page.settle()
    assert [r for r in elsewhere(page) if r not in page.refused()] == []


def test_headings_links_and_the_keyboard(chromium: Browser, report: Path) -> None:
    page = chromium.page(report)
    page.key("Tab")
    assert page.run("document.activeElement.id") == "skip"
    targets = page.run("[...document.querySelectorAll('a')].map(a => a.getAttribute('href').slice(1))")
    assert page.run(f"{targets!r}.every(id => document.getElementById(id))")
    ids = page.run("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.run("[...document.querySelectorAll('img')].every(i => i.alt)")
    page.run("document.querySelector('#json summary').scrollIntoView()")
    page.press("#json summary")
    assert page.run("document.querySelector('#json details').open")
    assert page.run("JSON.parse(document.querySelector('#json pre').textContent).schema") == "gradtool/report/1"


def test_light_and_dark(chromium: Browser, report: Path) -> None:
    def colours(scheme: str) -> tuple[str, str]:
        page = chromium.page(report, prefers_color_scheme=scheme)
        style = "getComputedStyle(document.body)"
        return page.run(f"{style}.backgroundColor"), page.run(f"{style}.color")

    light, dark = colours("light"), colours("dark")
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] == "rgb(22, 24, 28)"
    assert light[1] != dark[1]


def test_a_narrow_window_scrolls_tables_not_the_page(chromium: Browser, report: Path) -> None:
    page = chromium.page(report, width=420)
    assert page.run("document.documentElement.scrollWidth") <= 420


def test_it_prints(chromium: Browser, report: Path) -> None:
    page = chromium.page(report, prefers_color_scheme="dark")
    pdf = page.printed()
    assert pdf.startswith(b"%PDF")
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.run("getComputedStyle(document.querySelector('#picture .picture')).overflow") == "visible"


def test_cells_of_a_hostile_session(chromium: Browser, tmp_path: Path) -> None:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><script>window.ran = 1</script>'
        '<image href="https://example.com/a.png"/><rect width="40" height="40"/></svg>'
    )
    html = (
        '<meta http-equiv="refresh" content="0;url=https://example.com/"><table><tr><td>kept</td></tr></table></main>'
    )
    cells = [
        Cell(1, HOSTILE, HOSTILE, html=html),
        Cell(2, HOSTILE, HOSTILE, svg=svg),
        Cell(3, HOSTILE, note=True),
        Cell(4, HOSTILE, HOSTILE, failed=True),
    ]
    more = Section(
        "more", HOSTILE, (Lines(HOSTILE), TextTable(HOSTILE, [HOSTILE], [[HOSTILE]]), Figure(svg, HOSTILE, "", HOSTILE))
    )
    document = Document(HOSTILE, ((HOSTILE, HOSTILE),), (session.section(cells, HOSTILE), more))
    file = tmp_path / "session.html"
    file.write_text(to_html(document), encoding="utf-8")
    page = chromium.page(file)
    page.settle()
    assert page.problems() == []
    assert elsewhere(page) == []
    assert page.run("window.ran") is None
    assert page.run("location.protocol") == "file:"
    assert page.run("document.querySelectorAll('main > section').length") == 2
    assert page.run("document.querySelector('#cell-1 td').innerText") == "kept"
    assert page.run("document.querySelectorAll('img').length") == 2
    assert page.run("[...document.querySelectorAll('pre.in')].length") == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_checker_of_accessibility_finds_nothing(scheme: str, chromium: Browser, report: Path) -> None:
    assert violations(chromium.page(report, prefers_color_scheme=scheme)) == []
