"""The site, built strictly and opened in a real browser: every page, on a small screen, by day and by night.

Continuous integration runs it by name, next to the types. The test command does not take it. It is one test, so that
the site is built once and one browser goes through it, among however many processes tests are shared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin

from tests.sampling import sampled
from tests.viz.chromium import Page, browser

ROOT = Path(__file__).parents[2]
WIDTH = 400

FAINT = """
(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const [, , , alpha = 1] = parts(colour);
      if (alpha > 0.5) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  const seen = new Set();
  const words = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    if (!words.currentNode.data.trim() || element.closest(".headerlink, script, style, .md-clipboard")) continue;
    const pair = getComputedStyle(element).color + " on " + ground(element);
    if (seen.has(pair)) continue;
    seen.add(pair);
    const [r, g, b, alpha = 1] = parts(getComputedStyle(element).color);
    const behind = parts(ground(element));
    const mixed = [r, g, b].map((v, k) => alpha * v + (1 - alpha) * behind[k]);
    const [bright, dark] = [light(`${mixed}`), light(ground(element))].sort((x, y) => y - x);
    if ((bright + 0.05) / (dark + 0.05) < 4.5) faint.add(`${pair}: ${words.currentNode.data.trim().slice(0, 30)}`);
  }
  return [...faint];
})()
"""
"""Text that stands out less from its ground than 4.5 to 1, which is what WCAG asks for."""


STILL = "document.head.append(document.createElement('style')); document.styleSheets[document.styleSheets.length - 1]"
STILL += ".insertRule('* { transition: none !important; }')"
"""Colours change at once, not within a tenth of a second."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder are."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


def dead_links(site: Path) -> list[str]:
    """Links of pages to files, or to places in them, that are not there."""
    pages = {p.relative_to(site).as_posix(): p.read_text(encoding="utf-8") for p in site.rglob("*.html")}
    places = {name: set(re.findall(r'\sid="([^"]+)"', text)) for name, text in pages.items()}
    dead = []
    for name, text in pages.items():
        for link in re.findall(r'<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]*)"', text):
            target, _, place = urljoin(name, link.replace("&amp;", "&")).partition("#")
            if re.match(r"\w+:", target) or name == "404.html":
                continue
            missing = place and unquote(place) not in places.get(target, {unquote(place)})
            if not (site / unquote(target)).is_file() or missing:
                dead.append(f"{name}: {link}")
    return sorted(dead)


def defects(page: Page, address: str, home: str) -> list[str]:
    """What is wrong with a page for whoever reads it on a narrow screen."""
    page.events.clear()
    page.go(address)
    defects = [*page.problems(), *(url for url in page.requests() if not url.startswith((home, "data:")))]
    wide = page.run("document.documentElement.scrollWidth")
    if wide > WIDTH:
        defects.append(f"{wide} pixels wide")
    page.run(STILL)
    for scheme in ("default", "slate"):
        page.run(f"document.body.dataset.mdColorScheme = '{scheme}'")
        defects += [f"{scheme}: {text}" for text in page.run(FAINT)]
    return defects


def test_the_site_builds_strictly_and_every_page_can_be_read(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", "docs/mkdocs.yml", "-d", str(site)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    pages = sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html") if p.name != "404.html")
    assert {"index.html", "cookbook/nan.html", "reference/rules.html"} < set(pages)
    assert dead_links(site) == []
    with served(site) as home, browser() as chromium:
        for preference, scheme in (("dark", "slate"), ("light", "default")):
            page = chromium.page(home + "404.html", width=WIDTH, prefers_color_scheme=preference)
            assert page.run("document.body.dataset.mdColorScheme") == scheme
            page.run("localStorage.clear()")
        read = sampled(pages, str, 3, lambda name: name.rpartition("/")[0])
        bad = {name: what for name in read if (what := defects(page, home + name, home))}
    assert bad == {}


def test_links_that_lead_nowhere_are_seen(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#x">1</a><a href="b.html#y">2</a><a class="c" href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<p id="x"><img src="gone.svg"><a href="https://example.org/">4</a>')
    assert dead_links(tmp_path) == ["a.html: b.html#y", "a.html: c.html", "b.html: gone.svg"]
