"""Where the sources can be changed, and which lines a test must run to notice the change."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import MutationSpec, WorkItem

FOLDERS = ("autodiff", "eager", "kernels", "executor", "answers/why", "ops/library")
"""Folders of ``engine/`` that are changed."""

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Line(NamedTuple):
    """A line of a source that stays the same when other lines come or go: the how-manieth with its text."""

    path: str
    text: str
    occurrence: int


class Source:
    """A file of the engine.

    Attributes:
        path: from the top of the repository, such as ``engine/eager/tape.py``.
        lines: for each line, what it is called.
        within: lines that stand in the body of a function.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = Path(path).read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        seen: Counter[str] = Counter()
        self.lines: list[Line] = []
        for text in map(str.strip, self.text.splitlines()):
            self.lines.append(Line(path, text, seen[text]))
            seen[text] += 1
        self._nodes = list(ast.walk(self.tree))
        self.within = {n for f in self._nodes if isinstance(f, Function) for n in _body(f)}
        self._idle = [part for node in self._nodes for part in _idle(node)]

    def alters(self, start: tuple[int, int]) -> bool:
        """Whether a change at *start* can alter what the file does: annotations and samples of operators cannot."""
        return not any(_start(n) <= start < (n.end_lineno, n.end_col_offset) for n in self._idle)

    def readers(self, line: int) -> set[Line]:
        """The lines one of which runs when what stands in *line* matters.

        That is the line itself in the body of a function, and the body of the function whose decorators or defaults
        stand there. What a module or a class defines matters where the name is read.
        """
        if line in self.within:
            return {self.lines[n - 1] for n in self._statement(line)}
        heads = [f for f in self._nodes if isinstance(f, ast.FunctionDef) and _first(f) <= line < f.body[0].lineno]
        if heads:
            return {self.lines[n - 1] for n in _body(heads[-1])}
        names = {
            n.id
            for statement in self._nodes
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.lineno <= line <= statement.end_lineno
            for n in ast.walk(statement)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        reads = {n.lineno for n in self._nodes if isinstance(n, ast.Name) and n.id in names and n.lineno in self.within}
        return {self.lines[n - 1] for n in reads or self.within}

    def around(self, line: int) -> list[set[Line]]:
        """The lines of the functions around *line*, from the inside, and at last those of all functions of the file."""
        bodies = [_body(f) for f in self._nodes if isinstance(f, Function) and f.lineno <= line <= f.end_lineno]
        return [{self.lines[n - 1] for n in body} for body in [*sorted(bodies, key=len), self.within]]

    def _statement(self, line: int) -> range:
        """The lines of the innermost statement around *line*; of what holds other statements, the head."""
        around = [n for n in self._nodes if isinstance(n, ast.stmt) and n.lineno <= line <= n.end_lineno]
        innermost = max(around, key=lambda n: (n.lineno, -n.end_lineno))
        body = getattr(innermost, "body", None)
        return range(innermost.lineno, body[0].lineno if body else innermost.end_lineno + 1)


def _first(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _start(node: ast.expr | ast.stmt) -> tuple[int, int]:
    return (_first(node), 0) if isinstance(node, ast.FunctionDef) else (node.lineno, node.col_offset)


def _body(function: Function) -> range:
    body = function.body if isinstance(function.body, list) else [function.body]
    return range(body[0].lineno, body[-1].end_lineno + 1)


def _idle(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, ast.FunctionDef):
        if node.returns is not None:
            yield node.returns
        if any(isinstance(d, ast.Attribute) and d.attr == "samples" for d in node.decorator_list):
            yield node
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        yield node


@cache
def source(path: str) -> Source:
    """The file at *path*, read once."""
    return Source(path)


def mutants(folder: str) -> list[WorkItem]:
    """Every single change that the tool knows in a folder of the engine, in order, if it can alter anything."""
    items = _all_work_items(sorted(Path("engine", folder).rglob("*.py")), {})
    return [i for i in items if source(str(i.mutations[0].module_path)).alters(i.mutations[0].start_pos)]


def mutated(spec: MutationSpec) -> str | None:
    """The text of the file with the change; None when it is the same program, or none."""
    original = source(str(spec.module_path))
    operator = get_operator(spec.operator_name)(**spec.operator_args)
    text = mutate_code(original.text, operator, spec.occurrence)
    try:
        same = text is None or ast.dump(ast.parse(text)) == ast.dump(original.tree)
    except SyntaxError:
        return None
    return None if same else text
