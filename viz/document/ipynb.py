"""A document as a Jupyter notebook (nbformat 4.5), with its outputs, and code cells that give them again."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..debugger import verbs
from ..debugger.cell import Cell
from . import markdown
from .blocks import Block, Data, Document, Section
from .bundle import bundle, cell_bundle

FAILED = "Failed"
"""What a cell of a session raises in a notebook; a class of that name."""


def to_ipynb(document: Document) -> str:
    """The document as the text of a notebook; the same text for the same document, every time.

    Cell ids are made of the names of sections and the numbers of cells. Cells of the debugger become its magics:
    ``back 2`` is ``%gback 2``, and Python, which sees the session's names, ``%g v["w@GRAD"]``.
    """
    from nbformat import v4, validate, writes

    notebook = v4.new_notebook(
        cells=list(_cells(document)),
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
            "title": document.title,
        },
    )
    validate(notebook)
    text: str = writes(notebook)
    return text.rstrip("\n") + "\n"


def _cells(document: Document) -> Iterator[Any]:
    head = [f"# {markdown.line(document.title)}"]
    head += (
        ["\n".join(f"- {markdown.line(n)}: {markdown.line(t)}" for n, t in document.facts)] if document.facts else []
    )
    head += [markdown.line(document.intro)] if document.intro else []
    yield _markdown("title", "\n\n".join(head))
    if document.code:
        yield _code("begin", document.code)
    for s in document.sections:
        yield from _section(s)


def _section(s: Section) -> Iterator[Any]:
    yield _markdown(s.name, f"## {markdown.line(s.title)}")
    typed = [b for b in s.blocks if isinstance(b, Cell)]
    others = [b for b in s.blocks if not isinstance(b, Cell)]
    if s.code:
        code = _code(f"{s.name}-code", s.code, _output_cells(others))
        if any(isinstance(b, Data) for b in others):
            code.metadata["jupyter"] = {"outputs_hidden": True}
        yield code
    elif others:
        yield _markdown(f"{s.name}-text", "\n\n".join(markdown.blocks(others)))
    own: set[str] = set()
    for cell in typed:
        yield _session_cell(cell, own)


def _output_cells(blocks: Sequence[Block]) -> list[Any]:
    from nbformat import v4

    if not blocks:
        return []
    return [v4.new_output("execute_result", bundle(blocks))]


def _session_cell(cell: Cell, own: set[str]) -> Any:
    """A cell of a session.

    Args:
        own: the names that cells before it assigned to, which are no verbs any more; gets those of this one.
    """
    from nbformat import v4

    name = f"cell-{cell.number}"
    if cell.note and "\n" in cell.source.strip():
        return _markdown(name, markdown.note(cell.source))  # no verb writes such a note
    data = cell_bundle(cell)
    outputs = []
    if cell.failed:
        said = data.get("text/plain", "")
        outputs.append(v4.new_output("error", ename=FAILED, evalue=said, traceback=said.split("\n")))
    elif data:
        outputs.append(v4.new_output("execute_result", data))
    code = _code(name, _cell_source(f"note {cell.source.strip()}" if cell.note else cell.source, own), outputs)
    if cell.note:
        code.metadata["jupyter"] = {"source_hidden": True}  # it takes a number in the session, as other cells do
    if cell.failed:
        code.metadata["tags"] = ["raises-exception"]
    return code


def _cell_source(source: str, own: set[str]) -> str:
    """Return the source of a notebook's cell: ``%gback 2`` for a verb, ``%g`` for Python.

    In ``%%g`` stands what IPython would read in its own way on a line.
    """
    line = source.strip()
    if "\n" in line or line.endswith(("?", "\\")):
        own.update(_target_names(line))
        return f"%%g\n{source}"
    word = line.split(None, 1)[0] if line else ""
    command = None if word in own else verbs.split(line)
    if command is not None:
        verb, rest = command
        return f"%g{verb.name} {rest}".rstrip()
    own.update(_target_names(line.removeprefix("!").lstrip()))
    return f"%g {line}"


def _target_names(python: str) -> Iterator[str]:
    with suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(python)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _markdown(name: str, text: str) -> Any:
    from nbformat import v4

    return v4.new_markdown_cell(text, id=name)


def _code(name: str, source: str, outputs: Sequence[Any] = ()) -> Any:
    from nbformat import v4

    return v4.new_code_cell(source, id=name, outputs=list(outputs))
