"""One HTML file that needs nothing else: the picture, what is known of every node, and the script that moves it.

The script and the style lie in ``viz/page`` as plain files. They are put into the page, and the page's content security
policy allows exactly these two texts and no connection to anywhere. What comes from the program stands in one block of
JSON, in which no character can end the block, and the script adds it to the page as text only.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

import gradtool
from gradtool.engine.core.collector import pause_gc
from gradtool.engine.view.graph import GraphView, NodeView

from ..details import Details
from ..fold import automatic
from ..forms import Drawable
from ..legend import FLOW, LINES, Colouring, legend_title
from ..mirror.scene import CUT, KINDS, SCISSORS, Scene
from ..policy import digest
from ..table import TextTable
from ..text import FONT, printable, shorten
from .embedded import data, embed
from .svg import SHEARS
from .text import marks, pairs

SCRIPTS: Final = (
    "graph.mjs",
    "trace.mjs",
    "search.mjs",
    "bins.mjs",
    "viewport.mjs",
    "fold.mjs",
    "elements.mjs",
    "draw.mjs",
    "panel.mjs",
    "table.mjs",
    "printing.mjs",
    "main.mjs",
)
"""The files of the script; each uses only those before it."""

LONGEST_TITLE: Final = 200
LONGEST_NAME: Final = 80
"""Of names in the table that stands in for the picture."""
_NOTHING: Final = Details()


def picture(subject: Drawable, form: str) -> str:
    """Of a :class:`~gradtool.viz.forms.Drawable`: a page that needs nothing else."""
    return render(subject.scene, details=subject.explain(), colouring=subject.fills, command=subject.command)


def render(scene: Scene, *, details: Details = _NOTHING, colouring: Colouring | None = None, command: str = "") -> str:
    """The scene as an HTML file.

    Args:
        details: call stacks, source and values, shown for the node that is selected.
        colouring: fills in place of those of the roles.
        command: the command that made it, shown below the legend.

    Returns:
        The same text for the same arguments, every time.
    """
    script, style = _script(), _style()
    title = printable(legend_title(scene.view))
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1] + "…"
    with pause_gc():
        told = embed(data(scene, details, colouring))
    kinds = scene.routes.kinds()
    boxes = len(scene.boxes)
    parts = {
        "script_hash": digest(script),
        "style_hash": digest(style),
        "version": escape(gradtool.__version__),
        "title": escape(title),
        "heading": escape(title),
        "description": escape(f"{title}: {boxes} {'box' if boxes == 1 else 'boxes'}"),
        "static": static(scene.view),
        "style": style,
        "flow": escape(FLOW[scene.view.part]),
        "lines": "".join(_line(kind) for kind in KINDS if kind in kinds),
        "command": f"<p>made by <code>{escape(printable(command))}</code></p>" if command else "",
        "data": told,
        "script": script,
    }
    return _PLACE.sub(lambda match: parts[match[1]], _text("page.html"))


_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def _text(name: str) -> str:
    return (files("gradtool.viz") / "page" / name).read_text(encoding="utf-8")


_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.mjs";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_INDENT = re.compile(r"\n\s+")


@cache
def _script() -> str:
    """All files as one script: each a function that returns what it exports. Comments and indentation stay at home."""
    modules = []
    for name in SCRIPTS:
        text = _text(name)
        exported = ", ".join(_EXPORT.findall(text))
        body = _IMPORT.sub(r"const \1 = $\2;", _EXPORT.sub("", _COMMENT.sub("", text)))
        module = name.removesuffix(".mjs")
        modules.append(f"const ${module} = (() => {{\n{body}return {{ {exported} }};\n}})();\n")
    return _INDENT.sub("\n", '"use strict";\n' + "".join(modules))


@cache
def _style() -> str:
    return _INDENT.sub("\n", f":root {{ --code: {FONT}; }}\n{_text('page.css')}")


def static(view: GraphView) -> str:
    """Return the replacement of the picture where no script runs: operators in order, folded until they can be read."""
    rows = []
    for pair in pairs(automatic(view)):
        forward, backward = pair.forward, pair.backward
        node = forward or backward
        rows.append(
            [
                _count_label(forward) if pair.first else "",
                _count_label(backward) if backward is not None or forward is None else _reason(forward),
                _short(node.scope if node is not None else ""),
                ", ".join(_short(n.name) for n in pair.saved),
                pair.source,
            ]
        )
    table = TextTable("operators", ["forward", "backward", "layer", "kept for backward", "source"], rows).html()
    lost = [[sign, _short(name), reason] for sign, name, reason in marks(view)]
    return table + TextTable("marks", ["", "tensor or operator", "why"], lost).html() if lost else table


def _reason(node: NodeView) -> str:
    """Return the text in the place of a gradient operator."""
    return f"{SCISSORS} {printable(node.note)}" if node.mark and node.note else ""


def _count_label(node: NodeView | None) -> str:
    if node is None:
        return ""
    return f"{_short(node.name)} ×{node.count}" if node.count > 1 else _short(node.name)


def _short(text: str) -> str:
    return shorten(printable(text), LONGEST_NAME)


def _line(kind: str) -> str:
    """An entry of the legend for a kind of edge."""
    scissors = f'<g transform="translate(15 9)"><circle r="7"/><path d="{SHEARS}"/></g>' if kind == CUT else ""
    sign = f'<svg class="edge {kind}" viewBox="0 0 30 18" aria-hidden="true"><path d="M0 9H30"/>{scissors}</svg>'
    return f"<li>{sign}{escape(LINES[kind])}</li>"
