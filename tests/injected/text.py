"""Source text of a program, and edits of it that keep every other line where it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Edit:
    """A fault as a change of text.

    Attributes:
        cuts: ``(start, end, text)`` by character, in any order; they do not overlap.
        line: the line that is wrong afterwards, from 1.
        other: further lines that name the fault as well, such as the one that an absent call belongs to.
        value: ``(start, end)`` of the expression whose value it changes, where there is one.
    """

    cuts: Sequence[tuple[int, int, str]]
    line: int
    other: Sequence[int] = ()
    value: tuple[int, int] | None = None


class Text:
    """Text of a program with its syntax tree.

    Args:
        source: the program.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        for parent in ast.walk(self.tree):
            for child in ast.iter_child_nodes(parent):
                child.parent = parent  # type: ignore[attr-defined]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return where a node begins and ends, by character."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def _at(self, line: int, column: int) -> int:
        start = self._starts[line - 1]
        text = self.source[start : self._starts[line]]
        return start + len(text.encode()[:column].decode())

    def of(self, node: ast.expr | ast.stmt) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.source[start:end]

    def put(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """Return the edit that writes *text* in place of a node; ``{}`` stands for the node's own text."""
        start, end = self.span(node)
        own = self.source[start:end]
        lines = range(node.lineno, node.end_lineno or 0)
        value = (start, end) if isinstance(node, ast.expr) else None
        if isinstance(node, ast.Assign):
            value = self.span(node.value)
        return Edit([(start, end, text.replace("{}", own))], node.lineno, lines, value)

    def after(self, node: ast.stmt, text: str) -> Edit:
        """Return the edit that adds a statement on a line of its own after another."""
        assert node.end_lineno is not None
        end = self._starts[node.end_lineno]
        added = " " * node.col_offset + text + "\n"
        if not self.source[:end].endswith("\n"):
            added = "\n" + added
        return Edit([(end, end, added)], node.end_lineno + 1)

    def before(self, node: ast.stmt, text: str) -> Edit:
        """Return the edit that adds a statement on a line of its own before another."""
        start = self._starts[node.lineno - 1]
        return Edit([(start, start, " " * node.col_offset + text + "\n")], node.lineno)

    def with_edit(self, edit: Edit) -> str:
        """Return the changed program."""
        text = self.source
        for start, end, new in sorted(edit.cuts, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, in the order of the text."""
        found = [n for n in ast.walk(self.tree) if hasattr(n, "lineno")]
        return sorted(found, key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]

    def all(self, kind: type[ast.AST]) -> Iterator[ast.AST]:
        """Yield the nodes of a kind."""
        return (n for n in self.nodes if isinstance(n, kind))


def inside(node: ast.AST, kind: type[ast.AST]) -> ast.AST | None:
    """Return the innermost node of a kind around a node."""
    around = getattr(node, "parent", None)
    while around is not None and not isinstance(around, kind):
        around = getattr(around, "parent", None)
    return around


PROBED = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Name, ast.Attribute)


def with_probes(text: Text, name: str) -> str:
    """Return a program in which each value that is read goes through a function: ``name((start, end), value)``."""
    text = Text(text.source)  # a tree of its own: it is changed
    spans = {id(n): text.span(n) for n in text.nodes if isinstance(n, PROBED)}

    class Probes(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                node.body = [self.visit(child) for child in node.body]  # type: ignore[misc]
                return node
            if isinstance(node, ast.AnnAssign):
                node.value = node.value and self.visit(node.value)  # type: ignore[assignment]
                return node
            inner = node.func if isinstance(node, ast.Call) else node
            if isinstance(inner, ast.Attribute) and inner is not node:
                inner.value = self.visit(inner.value)  # type: ignore[assignment]
            visited = self._inside(node)
            if id(node) not in spans or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                return visited
            start, end = spans[id(node)]
            place = ast.Tuple([ast.Constant(start), ast.Constant(end)], ast.Load())
            return ast.Call(ast.Name(name, ast.Load()), [place, visited], [])  # type: ignore[list-item]

        def _inside(self, node: ast.AST) -> ast.AST:
            if not isinstance(node, ast.Call):
                return self.generic_visit(node)
            node.args = [self.visit(a) for a in node.args]  # type: ignore[misc]
            node.keywords = [self.visit(k) for k in node.keywords]  # type: ignore[misc]
            return node

    return ast.unparse(ast.fix_missing_locations(Probes().visit(text.tree)))
