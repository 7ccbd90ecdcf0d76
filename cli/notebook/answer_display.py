"""Answer of a magic: an object that shows itself in a notebook, in static HTML that needs no script and no style."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from typing import Any

from gradtool.viz.forms import FORMS
from gradtool.viz.picture import embed_page
from gradtool.viz.text import printable
from gradtool.viz.tones import LOUD
from gradtool.viz.views.view import Table, View, to_ascii, to_markdown, to_text

from ..errors import CLEAN
from ..files import Content, encode
from .names import as_magic

_LEFT = ' style="text-align:left"'
_MIME = {form.name: form.mime for form in FORMS if form.mime is not None}


class CommandOutput:
    """The result of a command.

    Attributes:
        code: the exit code that the command line would give: 0, or 1 where a check failed or something was found.
        data: the answer as the command's ``--format json`` holds it, None where the command gave no report.
        notes: what is worth knowing beside the result.
    """

    def __init__(self) -> None:
        self.code = CLEAN
        self.data: dict[str, Any] | None = None
        self.notes: list[str] = []
        self._bundle: dict[str, str] = {}
        self._html: list[str] = []
        self._text: list[str] = []

    # -- taking what a command prints ---------------------------------------------------------------------------------

    def note(self, text: str) -> None:
        """Something worth knowing that is not the result."""
        self.notes.append(text)

    def report(self, report: View, form: str, ascii: bool) -> None:
        """A report; the commands that it goes on to become magics."""
        said = replace(report, next=list(map(as_magic, report.next)))
        text = (to_markdown if form == "markdown" else to_text)(said).rstrip("\n")
        text = to_ascii(text) if ascii else text
        self.data = report.data
        self._text.append(text)
        if form == "markdown":
            self._bundle["text/markdown"] = text
        else:
            self._html += _html_of(said)

    def text(self, text: str, form: str) -> None:
        """A finished text."""
        self._text.append(text.rstrip("\n"))
        self._html.append(_preformat(self._text[-1]))

    def picture(self, picture: Content, form: str, text: Content) -> None:
        """A picture. A page is framed, so that its scripts reach nothing outside; viewers that take frames out are left
        with the text below it."""
        plain = encode(text).decode()
        self._text.append(plain.rstrip("\n"))
        if form == "html":
            self._html.append(embed_page(encode(picture).decode()))
            self._html.append(f"<details><summary>as text</summary>{_preformat(plain)}</details>")
        elif isinstance(picture, bytes):
            self._bundle[_MIME[form]] = base64.b64encode(picture).decode("ascii")
        elif form in _MIME:
            self._bundle[_MIME[form]] = picture
        else:
            self._text[-1] = picture.rstrip("\n")

    # -- showing it ---------------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """True if there is nothing to show, since all of it was written to files."""
        return not (self._text or self.notes)

    def __repr__(self) -> str:
        return "\n".join([*self._text, *(f"note: {n}" for n in self.notes)])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Text always; a table, a picture or a page where there is one."""
        bundle = {"text/plain": repr(self), **self._bundle}
        if self._html:
            bundle["text/html"] = "".join([*self._html, *(f"<p><small>{escape(n)}</small></p>" for n in self.notes)])
        return bundle


def _html_of(report: View) -> Iterator[str]:
    for block in report.blocks:
        yield _table(block) if isinstance(block, Table) else _preformat(block)
    if report.next:
        yield f"<p><small>next: {' · '.join(f'<code>{escape(n)}</code>' for n in report.next)}</small></p>"


def _preformat(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _table(table: Table) -> str:
    """A table; what a terminal would colour as bad is bold."""
    head = "".join(f'<th scope="col"{_LEFT}>{escape(h)}</th>' for h in table.headings)
    rows = "".join(f"<tr>{''.join(_cells(table, i))}</tr>" for i in range(len(table.rows)))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(table: Table, row: int) -> Iterator[str]:
    for heading, text in zip(table.headings, table.rows[row], strict=True):
        inner = escape(printable(text))
        yield f"<td{_LEFT}>{f'<b>{inner}</b>' if table.tone(row, heading, text) in LOUD else inner}</td>"
