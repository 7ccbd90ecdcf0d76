"""Expressions that ask for the truth of values, call functions or read tensors: asked of the runtime instead."""

from __future__ import annotations

import ast
from typing import Any

from .jumps import placed
from .sources import MARK

RUNTIME = "__jit_runtime"
"""The name under which rewritten functions find :mod:`.runtime`."""


def asked(function: str, *arguments: ast.expr) -> ast.Call:
    """A call of a function of the runtime."""
    return ast.Call(ast.Attribute(ast.Name(RUNTIME, ast.Load()), function, ast.Load()), list(arguments), [])


def later(value: ast.expr) -> ast.Lambda:
    """*value*, computed when it is asked for."""
    return ast.Lambda(ast.arguments([], [], ast.arg(MARK), [], [], None, []), value)


class Expressions(ast.NodeTransformer):
    """The expressions of one function; functions inside are left: they are rewritten when they are called.

    Args:
        first: the function's first parameter, for ``super()``.
    """

    def __init__(self, first: str | None) -> None:
        self._first = first

    def visit(self, node: ast.AST) -> Any:
        rewritten = super().visit(node)
        return placed(rewritten, node) if isinstance(node, ast.expr) else rewritten

    def _left(self, node: Any) -> Any:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _left

    def visit_match_case(self, node: ast.match_case) -> Any:
        # Patterns are no expressions.
        node.guard = None if node.guard is None else self.visit(node.guard)
        node.body = [self.visit(s) for s in node.body]
        return node

    # -- truth --------------------------------------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        function = "both" if isinstance(node.op, ast.And) else "either"
        cautious = [ast.Constant(_may_fail(v)) for v in node.values]
        values = [self.visit(v) for v in node.values]
        result = values[-1]
        for value, caution in zip(values[-2::-1], cautious[:0:-1], strict=True):
            result = asked(function, value, later(result), caution)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return asked("opposite", node.operand) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return asked("chosen", node.test, later(node.body), later(node.orelse))

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return node
        signs = [ast.Constant(type(op).__name__) for op in node.ops]
        pairs = [ast.Tuple([s, later(v)], ast.Load()) for s, v in zip(signs, node.comparators, strict=True)]
        return asked("compared", node.left, *pairs)

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = node.msg or ast.Constant(None)
        return placed(ast.Expr(asked("asserted", node.test, later(message))), node)

    # -- values -------------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Any:
        return asked("value", node) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return asked("member", node.value, ast.Constant(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        return asked("part", node.value, _index(node.slice)) if isinstance(node.ctx, ast.Load) else node

    def visit_Call(self, node: ast.Call) -> Any:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "super" and not node.args and self._first is not None:
            node.args = [ast.Name("__class__", ast.Load()), ast.Name(self._first, ast.Load())]
            return node
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        if isinstance(function, ast.Attribute):
            owner, method = self.visit(function.value), ast.Constant(function.attr)
            if _changes_its_tensor(function.attr):
                return ast.Call(asked("in_place", owner, method), node.args, node.keywords)
            function = asked("member", owner, method)
        elif not isinstance(function, ast.Name):
            function = self.visit(function)
        node.func = asked("callee", function)
        return node

    # -- parts of tensors ---------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return self.generic_visit(node)
        value = self.visit(node.value)
        place = self.visit(target.value), _index(self.visit(target.slice))
        return placed(ast.Expr(asked("part_set", *place, value)), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        if isinstance(target, ast.Name):
            before = self.visit_Name(ast.Name(target.id, ast.Load()))
            stepped = asked("stepped", before, self.visit(node.value), ast.Constant(_sign(node.op)))
            return placed(ast.Assign([target], stepped), node)
        if isinstance(target, ast.Subscript):
            place = self.visit(target.value), _index(self.visit(target.slice))
            return placed(
                ast.Expr(asked("part_stepped", *place, self.visit(node.value), ast.Constant(_sign(node.op)))), node
            )
        return self.generic_visit(node)


def _index(node: ast.expr) -> ast.expr:
    """Return the index between the brackets, as a call takes it: a slice for what has colons."""
    if isinstance(node, ast.Slice):
        ends = [end if end is not None else ast.Constant(None) for end in (node.lower, node.upper, node.step)]
        return asked("between", *ends)
    if isinstance(node, ast.Tuple):
        node.elts = [_index(entry) for entry in node.elts]
    return node


def _sign(operator: ast.operator) -> str:
    return type(operator).__name__


def _changes_its_tensor(method: str) -> bool:
    return method.endswith("_") and not method.startswith("_")


def _may_fail(node: ast.expr) -> bool:
    """Return whether an operand of ``and`` or ``or`` may only be computed where the one before allows it."""
    return any(isinstance(n, ast.Subscript) or (isinstance(n, ast.Call) and not _is_safe(n)) for n in ast.walk(node))


def _is_safe(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _SAFE


_SAFE = frozenset(
    (
        *("sum", "mean", "max", "min", "all", "any", "abs", "norm", "item", "numel", "dim"),
        *("isfinite", "isnan", "isinf", "astype", "cast"),
    )
)
"""Methods that never fail, whatever the values are."""
