"""Random names through every form of output: each stays well-formed, and no name becomes markup or a command."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import nbformat
import numpy as np

from gradtool import paddle
from gradtool.engine.executor.scope import global_scope
from gradtool.paddle.static import Program

from .commands import gradtool
from .names import name, names

Check = Callable[[str], None]


class Malformed(AssertionError):
    """An output that is not what its form says."""


def _write_model(folder: Path, draw: Random) -> list[str]:
    """A file with a program of such names: the file's name, and options that name the loss."""
    program = Program()
    data, weight, layer, middle, other = names(5, draw)
    with paddle.static.program_guard(program, Program()):
        x = paddle.static.data("x", [2, 3])
        w = paddle.static.create_parameter([3, 3], "float32", name="w")
        h = paddle.tanh(paddle.matmul(x, w))
        loss = paddle.mean(h * h)
        unused = paddle.static.create_parameter([2], "float32", name="unused")
    block = program.global_block()
    for v, new in ((x, data), (w, weight), (h, middle), (unused, other)):
        if new not in block.vars:
            block._rename_var(v.name, new)
    for op in block.ops:
        op.scope = f"/{layer}/"
    for v in (w, unused):
        global_scope().var(v.name).get_tensor().set(np.ones(v.shape, "float32"))
    file = "".join(c for c in name(draw) if c not in "/\0" and not "\ud800" <= c <= "\udfff")[:60].strip(".-") or "m"
    paddle.static.save(program, str(folder / file))
    return ["--loss", loss.name, "--", f"{file}.pdmodel"]


def _case(arguments: str, check: Check, file: str = "") -> Callable[[Random], None]:
    """A case: a command on such a model, and what holds of what it prints, or of the file that it writes."""

    def case(draw: Random) -> None:
        folder = Path.cwd()
        command, *options = arguments.split()
        done = gradtool(command, *options, *([file] if file else []), *_write_model(folder, draw))
        _terminal(done.err)
        if done.code in (2, 4):
            raise Malformed(f"refused: {done.err[:500]}")
        if file:
            _terminal(done.out)
        check((folder / file).read_bytes().decode("utf-8") if file else done.out)

    return case


# -- whether a text is what its form says -----------------------------------------------------------------------------


def _fail(what: str) -> None:
    raise Malformed(what)


def _terminal(text: str) -> None:
    """Nothing that a terminal obeys, or that turns the order of letters round."""
    for c in text:
        if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cs") or c in _TURNS):
            _fail(f"{c!r} goes to the terminal: {text[max(0, text.index(c) - 60) : text.index(c) + 20]!r}")


_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


def _json(text: str) -> None:
    json.loads(text, parse_constant=lambda word: _fail(f"{word} is no JSON"))


def _tsv(text: str) -> None:
    _terminal(text)
    if len({line.count("\t") for line in text.splitlines()}) > 1:
        _fail(f"rows of different lengths: {text[:300]!r}")


def _markdown(text: str) -> None:
    """Tables keep their columns; nothing is HTML of a name's own."""
    width = 0
    fenced = ""
    for line in text.split("\n"):
        fence = re.match(r"(`{3,}|~{3,})", line)
        if fence is not None and (not fenced or line.rstrip() == fenced):
            fenced = "" if fenced else fence[1]
        if fenced:
            continue
        cells = len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))
        if not line.startswith("|"):
            width = 0
        elif width and cells != width:
            _fail(f"a row with {cells} bars among rows with {width}: {line[:300]!r}")
        else:
            width = cells
        bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        if re.search(r"(?<!\\)<(?:script|img|svg|b>)", bare):
            _fail(f"markup in {line[:300]!r}")


def _no_handlers(tag: str, attributes: dict[str, str | None]) -> None:
    for key, value in attributes.items():
        if key.lower().startswith("on") or (value or "").strip().lower().startswith("javascript:"):
            _fail(f"<{tag} {key}={value!r}>")


def _svg(text: str) -> None:
    for element in ElementTree.fromstring(text).iter():
        tag = str(element.tag).rpartition("}")[2]
        if tag not in _SVG_TAGS:
            _fail(f"there is an element {tag}")
        _no_handlers(tag, {**element.attrib})


_SVG_TAGS = frozenset(
    (
        *(
            "svg",
            "g",
            "a",
            "metadata",
            "rect",
            "path",
            "line",
            "polyline",
            "polygon",
            "ellipse",
            "circle",
            "text",
            "tspan",
        ),
        *("title", "desc", "style", "defs", "marker"),
    )
)


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = tag == "img" and (dict(attrs).get("src") or "").startswith("data:image/svg+xml;base64,")
        if tag in ("img", "iframe", "object", "embed", "b") and not own:
            _fail(f"there is an element {tag}")
        _no_handlers(tag, dict(attrs))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        _no_handlers(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            _fail(f"</{tag}> closes what is not open: {self.open[-3:]}")

    def handle_comment(self, data: str) -> None:
        _fail(f"a comment: {data[:80]!r}")


_VOID = frozenset(("img", "meta", "link", "br", "hr", "input", "col", "wbr"))


def _html(text: str) -> None:
    parser = _Html()
    parser.feed(text)
    parser.close()
    if set(parser.open) - {"p", "li", "td", "tr", "th", "dt", "dd"}:
        _fail(f"left open: {parser.open}")


def _ipynb(text: str) -> None:
    nbformat.validate(nbformat.reads(text, as_version=4))


def _dot(text: str) -> None:
    """Statements of the form that Graphviz reads, one a line, every string quoted and closed."""
    for line in text.split("\n"):
        if line and not line.startswith("//") and _DOT.fullmatch(line) is None:
            _fail(f"no statement: {line[:300]!r}")


_ID = r'(?:\w+|-?[\d.]+|"(?:[^"\\\x00-\x1f]|\\.)*")'
_ATTRIBUTES = rf"\[{_ID}={_ID}(?:,? {_ID}={_ID})*\]"
_DOT = re.compile(
    rf"digraph {_ID} \{{|\}}|\s*subgraph {_ID} \{{|\s*\}}|\s*{_ID}={_ID};|\s*{_ID}(?: -> {_ID})?(?: {_ATTRIBUTES})?;?"
)


def _mermaid(text: str) -> None:
    for line in text.split("\n"):
        if line.count('"') % 2 and not line.startswith("%%"):
            _fail(f"a quote that is not closed: {line[:300]!r}")
        for c in line:
            if unicodedata.category(c) in ("Cc", "Cs") and c != "\t":
                _fail(f"{c!r} in {line[:300]!r}")


OUTPUTS: dict[str, Callable[[Random], None]] = {
    "backward": _case("backward", _terminal),
    "backward --format json": _case("backward --format json", _json),
    "backward --format tsv": _case("backward --format tsv", _tsv),
    "backward --format markdown": _case("backward --format markdown", _markdown),
    "backward --run": _case("backward --run -q", _terminal),
    "graph --text": _case("graph --text", _terminal),
    "graph --pairs": _case("graph --pairs", _terminal),
    "graph --pairs --format json": _case("graph --pairs --format json", _json),
    "why": _case("why", _terminal),
    "why --format json": _case("why --format json", _json),
    "stats --format markdown": _case("stats --format markdown -q", _markdown),
    "stats --memory --format tsv": _case("stats --memory --format tsv -q", _tsv),
    "graph .svg": _case("graph -o", _svg, "g.svg"),
    "graph .html": _case("graph -o", _html, "g.html"),
    "graph .dot": _case("graph -o", _dot, "g.dot"),
    "graph .json": _case("graph -o", _json, "g.json"),
    "graph .mmd": _case("graph -o", _mermaid, "g.mmd"),
    "graph --format text": _case("graph --format text", _terminal),
    "report --html": _case("report -q --html", _html, "r.html"),
    "report --ipynb": _case("report -q --ipynb", _ipynb, "r.ipynb"),
    "report --md": _case("report -q --md", _markdown, "r.md"),
}


def remove_files() -> None:
    """What a case wrote into the current folder."""
    for entry in os.scandir():
        os.unlink(entry)
