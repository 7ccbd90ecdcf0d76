"""Ways of plain values through the user's text: from the line where they left a tensor to one that computes with them.

A number that is printed, compared or counted goes nowhere; one that is assigned, added or handed to a function goes on
under the names of these statements. A way is followed inside of one function, and outwards where a function returns
the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import CodeType

from ...core.source import Location
from . import function_text

_METHODS = {"__float__": "float", "__int__": "int", "__complex__": "complex", "__array__": ""}
"""By the method that gave the values, the function that the user called for it; empty where it may be any."""

_DECIDING = frozenset({"print", "len", "range", "isinstance", "type", "bool", "format", "repr", "str"})
"""Functions whose results do not hold the value that they are given."""


def way_back(left: Location, how: str, entries: Sequence[Location]) -> Location | None:
    """Return the first of *entries* whose statement computes with what left at *left*; None where none does.

    Args:
        how: the method by which values left the tensor.
        entries: calls of operators, or tensors made from plain values, later than that.
    """
    frames = _functions(left)
    for depth, (code, line) in enumerate(frames):
        flow = _flow(code, line, how if not depth else "")
        if flow is None:
            return None
        for entry in entries:
            if _enters(flow, code, entry):
                return entry
        if not flow.returns:
            return None
    return None


def is_added(left: Location, how: str, entry: Location) -> bool:
    """Return whether the number that left at *left* is added to, or subtracted from, what *entry* computes.

    Factors of it may be literal numbers or lengths: a number that multiplies a tensor is a weight and no term.
    """
    for depth, (code, line) in enumerate(_functions(left)):
        whole = function_text.body(code)
        origin = None if whole is None else function_text.statement(whole, line)
        if whole is None or origin is None:
            return False
        flow = _flow(code, line, how if not depth else "")
        source = _source(origin, how) if not depth else None
        for other, at in _functions(entry):
            if other is not code and code.co_name != "<module>":
                continue
            statement = function_text.statement(whole, at)
            if statement is origin and source is not None:
                return _is_term(statement, source)
            if statement is not None and flow is not None:
                return any(_is_term(statement, node) for node in _loads(statement, flow.names))
    return False


def _loads(statement: ast.stmt, names: Iterable[str]) -> Iterator[ast.expr]:
    """Yield the places where a statement reads one of these names."""
    for node in _own_parts(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
            yield node


def _is_term(statement: ast.stmt, node: ast.AST) -> bool:
    """Return whether a value is a term of what the statement gives."""
    parents = _parents(statement)
    is_sum = isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub))
    while node is not statement:
        above = parents[node]
        if isinstance(above, ast.BinOp):
            other = above.right if above.left is node else above.left
            if isinstance(above.op, (ast.Add, ast.Sub)):
                is_sum = True
            elif not isinstance(above.op, (ast.Mult, ast.Div)) or not _is_literal(other):
                return False
        elif isinstance(above, ast.Call):
            called = getattr(above.func, "id", getattr(above.func, "attr", ""))
            is_sum |= called in _ADDING
            if called not in ("float", *_ADDING) and node is not above.func:
                return False
        node = above
    return is_sum


_ADDING = ("sum", "fsum")
"""Functions that add up a list."""


def _is_literal(node: ast.expr) -> bool:
    """Return whether an expression is a number that stands in the text, or the length of something."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len")


def _functions(location: Location) -> Location:
    """Return the lines of a stack without those of comprehensions, which belong to the statement around them."""
    return tuple([(code, line) for code, line in location if not function_text.is_expression(code)])


class _Flow:
    """The names that hold a value which one statement took, in the function around it.

    Attributes:
        names: the names, dotted ones among them.
        origin: the statement that took the value.
        inside: whether it goes on to compute with the value itself.
        returns: whether the function returns it.
    """

    def __init__(self, whole: function_text.Body, origin: ast.stmt, source: ast.expr | None) -> None:
        self.names: set[str] = set()
        self.returns = False
        taken = source is None or _goes_on(origin, source)
        self.origin = origin
        self.inside = taken and _computes_with(origin, source)
        if not taken:
            return
        self._give(origin)
        every = [*function_text.statements(whole)]
        before = -1
        while before < len(self.names):  # a loop may use a name above the line that gives it
            before = len(self.names)
            for statement in every:
                if not self.names.isdisjoint(_values_read(statement)):
                    self._give(statement)

    def _give(self, statement: ast.stmt) -> None:
        self.returns |= isinstance(statement, ast.Return)
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            self.names.update(_targets(statement.target))
        else:
            self.names.update(function_text.find_names(statement))


@lru_cache(maxsize=1024)
def _flow(code: CodeType, line: int, how: str) -> _Flow | None:
    """Return the names of a value that left at this line; None where the text is not there any more."""
    whole = function_text.body(code)
    origin = None if whole is None else function_text.statement(whole, line)
    if whole is None or origin is None:
        return None
    return _Flow(whole, origin, _source(origin, how) if how else None)


def _enters(flow: _Flow, code: CodeType, entry: Location) -> bool:
    """Tell whether the statement of *entry* reads a name of the flow, or is the one that the value left in."""
    for depth, (other, at) in enumerate(_functions(entry)):
        if other is not code and code.co_name != "<module>":
            continue
        whole = function_text.body(other)
        statement = None if whole is None else function_text.statement(whole, at)
        if statement is None or whole is None:
            continue
        if statement is flow.origin and flow.inside and not depth:
            return True
        local = set() if other is code else _find_bound_names(whole)
        if not (flow.names - local).isdisjoint(_values_read(statement)) and (not depth or other is code):
            return True
    return False


def _find_bound_names(whole: function_text.Body) -> set[str]:
    """The names that a function gives to something of its own."""
    names = {name for s in function_text.statements(whole) for name in function_text.find_names(s) if "." not in name}
    if isinstance(whole, (ast.FunctionDef, ast.AsyncFunctionDef)):
        names.update(a.arg for a in ast.walk(whole.args) if isinstance(a, ast.arg))
    return names


def _source(statement: ast.stmt, how: str) -> ast.expr | None:
    """The call in a statement by which the values left."""
    wanted = _METHODS.get(how, how)
    for node in _own_parts(statement):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == wanted or (not wanted and called not in _DECIDING):
                return node
    return None


def _own_parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """A statement without the statements inside of it."""
    todo: list[ast.AST] = [statement]
    for node in todo:
        yield node
        todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, (ast.stmt, ast.excepthandler))]


def _parents(statement: ast.stmt) -> Mapping[ast.AST, ast.AST]:
    return {child: node for node in _own_parts(statement) for child in ast.iter_child_nodes(node)}


def _goes_on(statement: ast.stmt, node: ast.AST) -> bool:
    """Tell whether the value of *node* is part of what the statement gives on, and does not only decide."""
    parents = _parents(statement)
    while node is not statement:
        above = parents[node]
        if _only_decides(above, node):
            return False
        node = above
    return not isinstance(statement, (ast.If, ast.While, ast.Assert, ast.Delete))


def _computes_with(statement: ast.stmt, node: ast.AST | None) -> bool:
    """Tell whether the statement adds, multiplies or hands on the value of *node*; of anything in it where None."""
    if node is None:
        return isinstance(statement, ast.AugAssign) or any(isinstance(n, ast.BinOp) for n in _own_parts(statement))
    parents = _parents(statement)
    while node is not statement:
        above = parents[node]
        if isinstance(above, ast.BinOp) or (isinstance(above, ast.Call) and above.func is not node):
            return True
        node = above
    return isinstance(statement, ast.AugAssign)


def _only_decides(above: ast.AST, node: ast.AST) -> bool:
    """Tell whether *above* uses *node* for a choice, a place or a text, and not as a value."""
    if isinstance(above, (ast.Compare, ast.JoinedStr, ast.FormattedValue, ast.Lambda)):
        return True
    if isinstance(above, ast.IfExp):
        return above.test is node
    if isinstance(above, ast.Subscript):
        return above.slice is node
    if isinstance(above, ast.comprehension):
        return node in above.ifs
    if isinstance(above, ast.keyword):
        return False
    return isinstance(above, ast.Call) and getattr(above.func, "id", "") in _DECIDING


@lru_cache(maxsize=4096)
def _values_read(statement: ast.stmt) -> frozenset[str]:
    """The names whose values a statement goes on with."""
    if isinstance(statement, (ast.If, ast.While, ast.Assert, ast.Delete, ast.FunctionDef, ast.ClassDef)):
        return frozenset()
    names: set[str] = set()
    todo: list[ast.AST] = [statement]
    for node in todo:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            names.update(function_text.read(node))
        inside: Iterable[ast.AST] = ast.iter_child_nodes(node)
        todo += [n for n in inside if not isinstance(n, (ast.stmt, ast.excepthandler)) and not _only_decides(node, n)]
    if isinstance(statement, ast.AugAssign):
        names.update(function_text.find_names(statement))
    return frozenset(names)


def _targets(target: ast.expr) -> set[str]:
    return {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
