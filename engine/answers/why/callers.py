"""Lines of the functions around a line: who called it, and who let go of what it returned.

Locations have to be whole stacks (``source.full_stacks``); of a single line nothing is known of its callers.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType

from ...core.source import NOWHERE, Location


def caller(inner: Location, around: Location) -> Location:
    """The line that called the function of *inner*, in the function that was running at *around*, too.

    Nowhere if *inner* stands in that function itself, or if they have none in common but the module.
    """
    running = {code for code, _ in around}
    for i, (code, _) in enumerate(inner):
        if code in running or code.co_name == "<module>":
            return inner[i:] if i and code in running else NOWHERE
    return NOWHERE


def let_go(made: Location) -> Location:
    """The line that let go of a result made at *made*: the first one outwards whose function does not return it."""
    for i, (code, line) in enumerate(made):
        if not (_is_expression(code) or _returns(code, line)):
            return made[i:]
    return made


def result(code: CodeType) -> Location:
    """Where a function returns its result; where it begins, if it does so on several lines."""
    function = _function(code)
    if function is None:
        return ((code, code.co_firstlineno),)
    returns = [s.lineno for s in _statements(function) if isinstance(s, ast.Return)]
    return ((code, returns[0] if len(returns) == 1 else function.lineno),)


def _is_expression(code: CodeType) -> bool:
    """Whether it is a comprehension or a lambda, whose results go to the function around it."""
    return code.co_name.startswith("<") and code.co_name != "<module>"


def _returns(code: CodeType, line: int) -> bool:
    """Whether the function returns what its statement at *line* makes."""
    function = _function(code)
    if function is None:
        return False
    statements = [s for s in _statements(function) if s.lineno <= line <= (s.end_lineno or s.lineno)]
    if not statements:
        return False
    innermost = max(statements, key=lambda s: s.lineno)
    if isinstance(innermost, ast.Return):
        return True
    return not _names_of(innermost).isdisjoint(_returned_names(function))


def _function(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition that *code* was made of; None where its text is not there any more."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.stmt]:
    """The statements of a function that are not in functions of its own."""
    todo: list[ast.AST] = [*function.body]
    for node in todo:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            todo += ast.iter_child_nodes(node)


def _returned_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names in what the function returns, and in the lists, tuples and dicts that have these names."""
    statements = [*_statements(function)]
    returned = {name for s in statements if isinstance(s, ast.Return) and s.value for name in _names_in(s.value)}
    holders = [s for s in statements if isinstance(s, ast.Assign) and isinstance(s.value, _CONTAINERS)]
    for holder in reversed(holders):
        if not _names_of(holder).isdisjoint(returned):
            returned.update(_names_in(holder.value))
    return returned


_CONTAINERS = (ast.List, ast.Tuple, ast.Dict)


def _names_in(expression: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))


def _names_of(statement: ast.stmt) -> set[str]:
    """The local names that a statement gives to what it makes, or to what it adds that to."""
    targets: Iterable[ast.expr] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = (statement.target,)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        # outputs.append(x): the list is what is returned.
        method = statement.value.func
        targets = (method.value,) if isinstance(method, ast.Attribute) else ()
    names: set[str] = set()
    todo = [*targets]
    for target in todo:
        if isinstance(target, ast.Name):
            names.add(target.id)
        elif isinstance(target, (ast.Tuple, ast.List)):
            todo += target.elts
        elif isinstance(target, (ast.Starred, ast.Subscript)):
            todo.append(target.value)
    return names
