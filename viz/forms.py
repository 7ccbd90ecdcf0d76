"""The forms that a picture comes in: one row of :data:`FORMS` each, and a file in ``render/`` that draws it.

The rows say what a form is called, which files hold it and what it shows; command line, Python and notebooks read them
here. Renderers load when they draw.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from gradtool.engine.core.records import dataclass

if TYPE_CHECKING:
    from gradtool.engine.view.graph import GraphView

    from .details import Details
    from .legend import Colouring
    from .mirror.scene import Scene


def _no_details() -> Details:
    from .details import Details

    return Details()


def _no_note(text: str) -> None:
    """Nobody listens."""


@dataclass
class Drawable:
    """Subject of a picture, with the facts that a form may need; what costs time is made on its first use.

    Attributes:
        view: what is shown, folded already.
        colour: makes the fills that take the place of those of the roles; None for those of the roles.
        explain: call stacks, source text and values.
        file: the name that the picture will be stored under.
        command: the command that made it.
        ascii: no character outside ASCII, in forms that terminals show.
        note: takes what has to be said beside the picture.
    """

    view: GraphView
    colour: Callable[[], Colouring | None] = field(default=lambda: None)
    explain: Callable[[], Details] = _no_details
    file: str = "graph.dot"
    command: str = ""
    ascii: bool = False
    note: Callable[[str], None] = _no_note

    @cached_property
    def fills(self) -> Colouring | None:
        """The fills in place of those of the roles."""
        return self.colour()

    @cached_property
    def scene(self) -> Scene:
        """The view with places for everything."""
        from .mirror.layout import mirror

        return mirror(self.view, notes=self.fills.notes if self.fills is not None else None)


@dataclass(frozen=True)
class Form:
    """Form of a picture.

    Attributes:
        name: what ``--format`` calls it.
        endings: of files that hold it.
        renderer: the file in ``render/`` whose ``picture(subject, name)`` draws it.
        mime: what notebooks call it, if they show it.
        whole: shows everything unless it is asked to fold: its readers fold and search there themselves.
        placed: needs a place for every box.
    """

    name: str
    endings: tuple[str, ...]
    renderer: str
    mime: str | None = None
    whole: bool = False
    placed: bool = True

    def draw(self, subject: Drawable) -> str | bytes:
        """The picture, as text or as bytes.

        Raises:
            GraphvizError: Graphviz is needed, and is missing, failed, or took too long.
        """
        renderer: Any = importlib.import_module(f".render.{self.renderer}", __package__)
        drawn: str | bytes = renderer.picture(subject, self.name)
        return drawn


FORMS: Final = (
    Form("dot", (".dot", ".gv"), "dot"),
    Form("svg", (".svg",), "svg", "image/svg+xml"),
    Form("png", (".png",), "by_graphviz", "image/png"),
    Form("pdf", (".pdf",), "by_graphviz", "application/pdf"),
    Form("html", (".html", ".htm"), "html", "text/html", whole=True),
    Form("json", (".json",), "json", whole=True, placed=False),
    Form("mermaid", (".mmd", ".mermaid"), "mermaid", placed=False),
    Form("text", (".txt", ".text"), "text", whole=True, placed=False),
)

NAMED: Final = {form.name: form for form in FORMS}
"""By name, in the order in which they are listed."""

BY_ENDING: Final = {ending: form for form in FORMS for ending in form.endings}
"""By the ending of a file, with its dot."""
