"""Parts of a document, whatever it is rendered to."""

from __future__ import annotations

import os
from typing import Any

from gradtool.engine.core.errors import NotFound, did_you_mean
from gradtool.engine.core.records import dataclass

from .. import endings
from ..debugger.cell import Cell
from ..table import TextTable


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph: sentences, not markup."""

    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines in a typeface of fixed width, as a terminal shows them."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture.

    Attributes:
        svg: an SVG file.
        text: what it shows, for those who cannot see it, and where only text goes.
        mermaid: the same as a Mermaid flowchart for Markdown; empty where it has too much in it for that.
        caption: stands below it.
    """

    svg: str
    text: str
    mermaid: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of source around one that matters.

    Attributes:
        place: ``model.py:17``.
        results: what that line made.
        lines: numbers and texts.
        here: the number of the line that matters.
        stack: the calls that led there, outermost first.
    """

    place: str
    results: str
    lines: tuple[tuple[int, str], ...]
    here: int
    stack: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that dig deeper."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Data:
    """A long text for programs, which pages keep folded.

    Attributes:
        summary: what it is.
    """

    text: str
    summary: str


Block = Prose | Lines | TextTable | Figure | Excerpt | Commands | Data | Cell


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a document under a heading. Notebooks show it as it stands.

    Attributes:
        name: one word, the same in every document of the kind; links and cell ids are made of it.
        code: the code cell of a notebook that gives the blocks again; empty where none does.
        model: of a session, what it is about as the command line takes it, seen from the current folder.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    code: str = ""
    model: str = ""

    def __str__(self) -> str:
        from .text import section

        return section(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from .bundle import bundle

        return bundle(self.blocks)


@dataclass(frozen=True, slots=True)
class Document:
    """A report, or a session of the debugger.

    Attributes:
        facts: what stands at the top: names and texts.
        code: the code cell that a notebook begins with.
        intro: what a notebook says above that cell.
        json: the same for programs, if there is such a form.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    code: str = ""
    intro: str = ""
    json: str = ""

    def __getitem__(self, name: str) -> Section:
        """The section of that name.

        Raises:
            NotFound: there is none (a KeyError).
        """
        for s in self.sections:
            if s.name == name:
                return s
        names = [s.name for s in self.sections]
        raise NotFound(
            f"the document has no section {name!r}: it has {', '.join(names)}.", hint=did_you_mean(name, names)
        )

    def __str__(self) -> str:
        from .text import document

        return document(self)

    def __repr__(self) -> str:
        return f"<{self.title}: {', '.join(s.name for s in self.sections)}>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the document to a file, whole or not at all.

        Args:
            path: its ending says what is written: ``.html``, ``.ipynb``, ``.md`` or ``.json``.

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written.
        """
        from .forms import FORMS

        forms: dict[str, endings.Form] = {".html": FORMS["html"], ".htm": FORMS["html"]}
        forms |= {f".{ending}": form for ending, form in FORMS.items()}
        if self.json:
            forms[".json"] = lambda document: document.json
        endings.save(self, path, forms, "report.html")

    def show(self) -> None:
        """Show the document: in a notebook below the cell, elsewhere as a page in the browser."""
        from ..notebook import present

        present(self, "report.html")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from ..picture import embed_page
        from .html import to_html

        return {"text/plain": str(self), "text/html": embed_page(to_html(self), self.title)}
