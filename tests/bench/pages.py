"""The HTML page of a graph in Chromium: its size, and how soon it shows, answers and moves.

    python -m tests.bench pages                      # 100 to 20k operators
    python -m tests.bench pages --sizes 100k --shapes wide

The programs are those of ``pictures``. The columns are

    nodes         boxes of the picture, nothing folded
    html          the text, from a scene, seconds
    kB            its size
    paint, ready  first paint; script run and picture drawn: milliseconds after the address was given
    search        until all matches of a search are marked, milliseconds
    collapse      all layers collapsed and drawn, milliseconds
    move, zoom    one step of moving, and all of it on the screen at once, until it is drawn, milliseconds
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.measuring import child, number
from tests.bench.pictures import SHAPES, best, cell, text_of
from tests.viz.chromium import Page, browser

COLUMNS = ("nodes", "html", "kB", "paint", "ready", "search", "collapse", "move", "zoom")
TARGETS = "targets: 700 nodes: 250 kB; 20k: paint 2000, search 100"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench pages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", nargs="*", default=["100", "700", "1k", "10k", "20k"], help="operators")
    parser.add_argument("--shapes", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--one", nargs=2, metavar=("SHAPE", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return
    for shape in options.shapes:
        print(f"\n{shape:<10}" + "".join(f"{c:>11}" for c in COLUMNS))
        for size in map(number, options.sizes):
            row = child("pages", "--one", shape, str(size))
            print(f"{size:<10}" + "".join(cell(row[c]) for c in COLUMNS), flush=True)
    print(TARGETS)


def measure(shape: str, size: int) -> dict[str, Any]:
    """All columns for one program."""
    from gradtool.engine.loading import opening
    from gradtool.engine.request.options import Cuts
    from gradtool.engine.request.request import Request
    from gradtool.viz.details import details
    from gradtool.viz.mirror.layout import mirror
    from gradtool.viz.render import html

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.py"
        file.write_text(text_of(shape, size), encoding="utf-8")
        with opening.open_model(Request.create(str(file), full_stacks=True)) as model:
            graph = model.draw(Cuts())
            shown, locations = graph.view, list(graph.locations)
            scene = mirror(shown)
            text, seconds = best(lambda: html.render(scene, details=details(shown, locations)), 3)
        page_file = file.with_suffix(".html")
        page_file.write_text(text, encoding="utf-8")
        with browser() as chromium:
            page = chromium.page(page_file)
            page.settle()
            figures = {"nodes": len(scene.boxes), "html": seconds, "kB": len(text.encode()) // 1000}
            return figures | _in_browser(page)


def _in_browser(page: Page) -> dict[str, Any]:
    paint = page.run(
        "new Promise((done) => { const look = () => { const [first] = performance.getEntriesByType('paint');"
        "if (first) done(first.startTime); else requestAnimationFrame(look); }; look(); })"
    )
    ready = page.run("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    search = page.run(
        "(() => { const s = document.getElementById('search'); s.value = 'grad'; const t = performance.now();"
        "s.dispatchEvent(new Event('input')); const d = performance.now() - t; s.value = ''; return d; })()"
    )

    def key(name: str) -> Any:
        return page.run(
            "new Promise((done) => { const t = performance.now(); document.dispatchEvent("
            f"new KeyboardEvent('keydown', {{ key: '{name}' }}));"
            "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - t))); })"
        )

    times = {"paint": paint, "ready": ready, "search": search, "move": key("ArrowDown"), "zoom": key("0")}
    page.settle()
    times["collapse"] = key("C")
    return {name: round(float(value), 1) for name, value in times.items()}


if __name__ == "__main__":
    main()
