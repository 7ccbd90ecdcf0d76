"""Loops without ``break``, ``continue`` and ``return``: what they jump by becomes flags, which programs can hold."""

from __future__ import annotations

import ast
from dataclasses import field

from gradtool.engine.core.records import dataclass

from .names import ends, has, jumps, within
from .sources import PREFIX

_OPAQUE = (ast.Try, ast.Match, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))
"""Statements that jumps are not taken out of: a loop that leaves from inside of one stays a loop of Python."""


@dataclass
class _Flags:
    """The names of what a loop notes.

    Attributes:
        broken: set by ``break`` and ``return``: no iteration follows.
        skipped: set by ``continue``: the rest of this iteration is left out.
        done, value: set by ``return``: that the function returns, and what.
    """

    number: int
    used: set[str] = field(default_factory=set)

    def name(self, what: str) -> str:
        self.used.add(what)
        return f"{PREFIX}{what}_{self.number}"


class JumpLowering:
    """The statements of one function with flags in place of jumps."""

    def __init__(self) -> None:
        self._count = 0

    def block(self, statements: list[ast.stmt], flags: _Flags | None = None) -> list[ast.stmt]:
        """*statements*, of the loop with *flags*; of no loop without them."""
        lowered: list[ast.stmt] = []
        for i, statement in enumerate(statements):
            leaves = flags is not None and _leaves([statement])
            rest = statements[i + 1 :]
            if not leaves:
                lowered += self._statement(statement, flags)
                continue
            assert flags is not None
            if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
                return lowered + self._jump(statement, flags)
            if isinstance(statement, ast.If) and rest and _takes_rest(statement):
                body, other = statement.body, statement.orelse
                statement.body, statement.orelse = (body, other + rest) if ends(body) else (body + rest, other)
                return lowered + self._statement(statement, flags)
            lowered += self._statement(statement, flags)
            if rest:
                lowered.append(self._guarded(rest, flags, statement))
            return lowered
        return lowered

    def _guarded(self, rest: list[ast.stmt], flags: _Flags, at: ast.stmt) -> ast.stmt:
        """*rest*, for when nothing has jumped."""
        body = self.block(rest, flags)
        tests: list[ast.expr] = [
            ast.Name(flags.name(w), ast.Load()) for w in sorted(flags.used & {"broken", "skipped"})
        ]
        test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        return placed(ast.If(ast.UnaryOp(ast.Not(), test), body, []), at)

    def _jump(self, statement: ast.stmt, flags: _Flags) -> list[ast.stmt]:
        if isinstance(statement, ast.Continue):
            return [_set(flags.name("skipped"), True, statement)]
        broken = _set(flags.name("broken"), True, statement)
        if isinstance(statement, ast.Break):
            return [broken]
        assert isinstance(statement, ast.Return)
        value = statement.value or ast.Constant(None)
        target = ast.Name(flags.name("value"), ast.Store())
        keeps = placed(ast.Assign([target], value), statement)
        return [keeps, _set(flags.name("done"), True, statement), broken]

    def _statement(self, statement: ast.stmt, flags: _Flags | None) -> list[ast.stmt]:
        if isinstance(statement, (ast.While, ast.For)):
            return self._loop(statement, flags)
        if isinstance(statement, ast.If):
            statement.body, statement.orelse = self.block(statement.body, flags), self.block(statement.orelse, flags)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            statement.body = self.block(statement.body, flags)
        elif isinstance(statement, _OPAQUE):
            self._parts(statement)
        return [statement]

    def _parts(self, statement: ast.stmt) -> None:
        """Lower the loops within *statement*, which no jump leaves."""
        for name in ("body", "orelse", "finalbody"):
            if hasattr(statement, name):
                setattr(statement, name, self.block(getattr(statement, name)))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            part.body = self.block(part.body)

    def _loop(self, loop: ast.While | ast.For, around: _Flags | None) -> list[ast.stmt]:
        if any(isinstance(n, _OPAQUE) and _leaves([n]) for n in within(loop.body)):
            return [loop]  # as it is: a loop of Python
        self._count += 1
        flags = _Flags(self._count)
        returns = has(loop.body, ast.Return)
        loop.body = self.block(loop.body, flags)
        before: list[ast.stmt] = []
        after: list[ast.stmt] = self.block(loop.orelse, around)
        loop.orelse = []
        if "skipped" in flags.used:
            loop.body.insert(0, _set(flags.name("skipped"), False, loop))
        if "broken" in flags.used:
            broken = flags.name("broken")
            before.append(_set(broken, False, loop))
            loop.stop = broken  # type: ignore[union-attr]
            if after:
                test = ast.UnaryOp(ast.Not(), ast.Name(broken, ast.Load()))
                after = [placed(ast.If(test, after, []), loop)]
        if returns:
            before.append(_set(flags.name("done"), False, loop))
            back = ast.Return(ast.Name(flags.name("value"), ast.Load()))
            leaving = placed(ast.If(ast.Name(flags.name("done"), ast.Load()), [back], []), loop)
            after = self.block([leaving, *after], around) if around is not None else [leaving, *after]
        return [*before, loop, *after]


def _leaves(statements: list[ast.stmt] | list[ast.AST]) -> bool:
    """Return whether statements inside a loop leave it, or its iteration."""
    return jumps(statements, ast.Break, ast.Continue) or _returns(statements)


def _returns(statements: list[ast.stmt] | list[ast.AST]) -> bool:
    return has(statements, ast.Return)


def _takes_rest(statement: ast.If) -> bool:
    """Return whether what follows can stand in one of the ways: the other one never comes there."""
    if ends(statement.body):
        return True
    return ends(statement.orelse) and not _leaves(statement.body)


def _set(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    return placed(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), at)


def placed(node: ast.stmt, at: ast.AST) -> ast.stmt:
    """*node* and what stands in it without a place, at the line of *at*."""
    line, column = at.lineno, at.col_offset  # type: ignore[attr-defined]
    for inner in ast.walk(node):
        if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
            inner.lineno = inner.end_lineno = line  # type: ignore[attr-defined]
            inner.col_offset = inner.end_col_offset = column  # type: ignore[attr-defined]
    return node
