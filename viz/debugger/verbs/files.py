"""Verbs that write files."""

from __future__ import annotations

from dataclasses import replace

from gradtool.engine.files.writing import write_files

from ..errors import VerbError
from ..notebook import Notebook
from . import Reply, always, verb

FORMATS = ("html", "ipynb", "md", "script")


def _write(path: str, text: str) -> str:
    """Write a file, whole or not at all; what to say of it."""
    content = text.encode("utf-8", "backslashreplace")
    try:
        write_files({path: content})
    except OSError as error:
        raise VerbError(f"cannot write {path}: {error.strerror or error}") from None
    return f"{path} · {len(content)} bytes"


@verb("save FILE.jsonl", group="session", examples=("save hunt.jsonl",), then="export", completes="file", writes=always)
def save(book: Notebook, rest: str) -> Reply:
    """Save the session with all that replaying it needs; the model is not needed for that.

    gradtool debug --replay FILE.jsonl goes on with it, and with --check runs its cells again and compares.
    """
    from ..saved import writer

    if not rest:
        raise VerbError("save to which file?", hint="save hunt.jsonl")
    told = _write(rest, writer.text(book))
    return Reply(f"saved {told} · {len(book.cells)} cell{'s' * (len(book.cells) != 1)}")


@verb(
    "export html|ipynb|md|script FILE",
    group="session",
    examples=("export html hunt.html", "export script hunt.gdt"),
    then="save",
    completes="format",
    writes=always,
)
def export(book: Notebook, rest: str) -> Reply:
    """Write the cells as a page, a notebook, Markdown or a batch script.

    A script is what gradtool debug model.py --batch -x FILE carries out.
    """
    form, _, path = rest.partition(" ")
    path = path.strip()
    if form not in FORMATS:
        raise VerbError(f"expected {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, but got {form!r}.", hint=_HINT)
    if not path:
        raise VerbError("export to which file?", hint=_HINT)
    return Reply(f"wrote {_write(path, _render(book, form, path))}")


_HINT = "export html hunt.html · export script hunt.gdt"


def _render(book: Notebook, form: str, path: str) -> str:
    from ...document import session
    from ...document.forms import FORMS as DOCUMENT_FORMS
    from ...document.script import to_script

    if form == "script":
        return to_script(book.cells)
    document = session.document(book.cells, book.model or book.session.timeline.title)
    if form == "ipynb":
        (shown,) = document.sections
        document = replace(document, sections=(session.relative_section(shown, path),))
    return DOCUMENT_FORMS[form](document)
