"""A function whose branches and loops ask the runtime which way to go.

Of ``if test: body`` it makes functions of both ways, and of what they assign to, one that reads it and one that sets
it: the runtime takes the way that Python would take, or, where the test is a variable of a program, builds both.
"""

from __future__ import annotations

import ast
import copy
import types

from .expressions import RUNTIME, Expressions, asked, later
from .jumps import JumpLowering, placed
from .names import SCOPES, bound, changed, ends, has, jumps, members, within
from .sources import PREFIX, Found, compiled, found

_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)


def rewritten(function: types.FunctionType) -> types.CodeType | None:
    """The code of *function*, rewritten; None where its text cannot be read, or it is a generator."""
    definition = definition_of(function)
    return None if definition is None else compiled(function, definition, RUNTIME)


def definition_of(function: types.FunctionType) -> ast.FunctionDef | None:
    """The definition of *function*, rewritten; see :func:`rewritten`."""
    place = found(function)
    if place is None:
        return None
    definition = _plain(place)
    if has(definition.body, *_YIELDS):
        return None
    if place.owner is not None:
        _Mangled(place.owner).visit(definition)
    definition.name = f"{PREFIX}function"  # a function may call itself by its name, which is found around it
    definition.body = JumpLowering().block(definition.body)
    definition.body = _Rewriting(definition, _parameters(definition)).whole()
    return definition


def _plain(place: Found) -> ast.FunctionDef:
    """A copy of a definition without decorators, defaults and annotations, whose values the function has already."""
    node = copy.deepcopy(place.node)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [placed(ast.Return(node.body), node.body)]
        definition = ast.FunctionDef(f"{PREFIX}lambda", node.args, body, [], None)
        if "type_params" in ast.FunctionDef._fields:
            definition.type_params = []  # type: ignore[attr-defined]
        node = ast.copy_location(definition, node)
    node.decorator_list, node.returns = [], None
    arguments = node.args
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    return node


def _parameters(definition: ast.FunctionDef) -> list[str]:
    a = definition.args
    names = [argument.arg for argument in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return names + [argument.arg for argument in (a.vararg, a.kwarg) if argument is not None]


class _Mangled(ast.NodeTransformer):
    """Private names as the class *owner* has them."""

    def __init__(self, owner: str) -> None:
        self._owner = owner.lstrip("_")

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and bool(self._owner)
        return f"_{self._owner}{name}" if private else name

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._name(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        node.attr = self._name(node.attr)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg = self._name(node.arg)
        return node


class _State:
    """Names that the ways of a branch, or the body of a loop, may change.

    Attributes:
        names: of variables, in order.
        members: attributes, as ``self.state``.
        held: names and attributes whose containers may change.
        needed: of the names, those that are read outside.
    """

    def __init__(self, names: list[str], members: list[str], held: list[str], needed: list[str]) -> None:
        self.names = names
        self.members = members
        self.held = [h for h in held if h not in names and h not in members]
        self.needed = needed


class _Rewriting:
    def __init__(self, definition: ast.FunctionDef, parameters: list[str]) -> None:
        self._definition = definition
        self._parameters = parameters
        self._locals = set(bound(definition.body)) | set(parameters)
        for node in within(definition.body):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                self._locals -= set(node.names)
        self._globals = {n for node in within(definition.body) if isinstance(node, ast.Global) for n in node.names}
        self._count = 0
        self._reads: dict[str, int] = {}
        for node in ast.walk(definition):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._reads[node.id] = self._reads.get(node.id, 0) + 1

    def whole(self) -> list[ast.stmt]:
        """The function's statements."""
        statements = self._definition.body
        self._note_states(statements)
        first = self._parameters[0] if self._parameters else None
        rewriter = Expressions(first)
        statements = [rewriter.visit(s) for s in statements]
        rewritten = self._block(statements)
        made = sorted(self._locals - set(self._parameters))
        if made:
            # Names are the function's own, whichever of the functions inside assigns to them.
            targets: list[ast.expr] = [ast.Name(n, ast.Store()) for n in made]
            never = ast.If(ast.Constant(False), [ast.Assign(targets, ast.Constant(None))], [])
            rewritten.insert(0, placed(never, self._definition))
        return rewritten

    def _note_states(self, statements: list[ast.stmt]) -> None:
        """Note what each branch and loop may change, before expressions are rewritten."""
        everything = bound(statements)
        self._all = _State(everything, members(statements), changed(statements), everything)
        for node in within(statements):
            if isinstance(node, (ast.If, ast.While, ast.For)):
                parts = [*node.body, *node.orelse]
                if isinstance(node, ast.For):
                    parts.append(ast.Expr(node.target))
                inside: dict[str, int] = {}
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
                        inside[inner.id] = inside.get(inner.id, 0) + 1
                names = bound(parts)
                needed = [n for n in names if self._reads.get(n, 0) > inside.get(n, 0)]
                node.state = _State(names, members(parts), changed(parts), needed)  # type: ignore[union-attr]

    # -- statements ---------------------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        rewritten: list[ast.stmt] = []
        for i, statement in enumerate(statements):
            if isinstance(statement, ast.If) and has([statement], ast.Return) and not self._stays(statement):
                return rewritten + self._returning(statement, statements[i + 1 :])
            rewritten += self._statement(statement)
        return rewritten

    def _stays(self, statement: ast.If) -> bool:
        """Return whether a branch is left to Python: it jumps, or returns out of something."""
        if jumps([statement], ast.Break, ast.Continue):
            return True
        inner = [n for n in within([*statement.body, *statement.orelse]) if not isinstance(n, (ast.If, ast.Return))]
        return any(has([n], ast.Return) for n in inner if isinstance(n, ast.stmt))

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        leaves = has([statement], ast.Return) or jumps([statement], ast.Break, ast.Continue)
        if isinstance(statement, ast.If):
            if leaves:
                statement.body = self._flat(statement.body)
                statement.orelse = self._flat(statement.orelse)
                statement.test = _plainly(statement.test)
                return [statement]
            return self._branch(statement)
        if isinstance(statement, (ast.While, ast.For)):
            if has(statement.body, ast.Return) or _jumps_inside(statement):
                statement.body = self._flat(statement.body)
                statement.orelse = self._flat(statement.orelse)
                if isinstance(statement, ast.While):
                    statement.test = _plainly(statement.test)
                return [statement]
            return self._loop(statement)
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(statement, name, None), list) and not isinstance(statement, SCOPES):
                setattr(statement, name, self._flat(getattr(statement, name)))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            part.body = self._flat(part.body)
        return [statement]

    def _flat(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements that Python itself runs, whatever stands in them."""
        return [r for s in statements for r in self._statement(s)]

    def _number(self) -> int:
        self._count += 1
        return self._count

    # -- branches -----------------------------------------------------------------------------------------------------

    def _branch(self, node: ast.If) -> list[ast.stmt]:
        n, state = self._number(), _state(node)
        made = [
            self._function(f"{PREFIX}true_{n}", self._block(node.body), state, node),
            self._function(f"{PREFIX}false_{n}", self._block(node.orelse), state, node),
            *self._access(n, state, node),
        ]
        ways = [ast.Name(f"{PREFIX}true_{n}", ast.Load()), ast.Name(f"{PREFIX}false_{n}", ast.Load())]
        call = asked("branched", node.test, *ways, *self._described(n, state))
        return [*made, placed(ast.Expr(call), node)]

    def _returning(self, node: ast.If, rest: list[ast.stmt]) -> list[ast.stmt]:
        """A branch that may return: what follows it belongs to the ways that do not."""
        n, state = self._number(), self._all
        made: list[ast.stmt] = []
        body, other = node.body, node.orelse
        if rest and not (ends(body) and ends(other)):
            name = f"{PREFIX}rest_{n}"
            made.append(self._function(name, self._block(rest), state, rest[0]))
            goes_on = placed(ast.Return(ast.Call(ast.Name(name, ast.Load()), [], [])), rest[0])
            body, other = (way if ends(way) else [*way, goes_on] for way in (body, other))
        made += [
            self._function(f"{PREFIX}true_{n}", self._block(body), state, node),
            self._function(f"{PREFIX}false_{n}", self._block(other), state, node),
            *self._access(n, state, node),
        ]
        ways = [ast.Name(f"{PREFIX}true_{n}", ast.Load()), ast.Name(f"{PREFIX}false_{n}", ast.Load())]
        call = asked("returned", node.test, *ways, *self._described(n, state))
        return [*made, placed(ast.Return(call), node)]

    # -- loops --------------------------------------------------------------------------------------------------------

    def _loop(self, node: ast.While | ast.For) -> list[ast.stmt]:
        n, state = self._number(), _state(node)
        stop = getattr(node, "stop", None)
        stopped: ast.expr = later(ast.Name(stop, ast.Load())) if stop else ast.Constant(None)
        argument = None
        statements = self._block(node.body)
        if isinstance(node, ast.For):
            argument = f"{PREFIX}item_{n}"
            statements.insert(0, placed(ast.Assign([node.target], ast.Name(argument, ast.Load())), node.target))
        made = [
            self._function(f"{PREFIX}body_{n}", statements, state, node, argument),
            *self._access(n, state, node),
        ]
        source = later(node.test) if isinstance(node, ast.While) else node.iter
        function = "repeated" if isinstance(node, ast.While) else "iterated"
        body = ast.Name(f"{PREFIX}body_{n}", ast.Load())
        call = asked(function, source, body, *self._described(n, state), stopped)
        return [*made, placed(ast.Expr(call), node)]

    # -- functions ----------------------------------------------------------------------------------------------------

    def _function(
        self, name: str, body: list[ast.stmt], state: _State, at: ast.stmt, argument: str | None = None
    ) -> ast.stmt:
        arguments = ast.arguments([], [ast.arg(argument)] if argument else [], None, [], [], None, [])
        statements = [*self._declared(state.names), *(body or [ast.Pass()])]
        definition = ast.FunctionDef(name, arguments, statements, [], None)
        if "type_params" in ast.FunctionDef._fields:
            definition.type_params = []  # type: ignore[attr-defined]
        return placed(definition, at)

    def _declared(self, names: list[str]) -> list[ast.stmt]:
        own = [n for n in names if n not in self._globals]
        others = [n for n in names if n in self._globals]
        declarations: list[ast.stmt] = []
        if own:
            declarations.append(ast.Nonlocal(own))
        if others:
            declarations.append(ast.Global(others))
        return declarations

    def _access(self, n: int, state: _State, at: ast.stmt) -> list[ast.stmt]:
        """The functions that read what may change, and set it."""
        paths = [*state.names, *state.members]
        reads = [asked("peeked", later(_path(p)), ast.Constant(p)) for p in (*paths, *state.held)]
        read = ast.Return(ast.Tuple(list(reads), ast.Load()))
        sets: list[ast.stmt] = []
        for i, path in enumerate(paths):
            entry = ast.Subscript(ast.Name(f"{PREFIX}values", ast.Load()), ast.Constant(i), ast.Load())
            if path in state.names:
                sets.append(ast.Assign([ast.Name(path, ast.Store())], entry))
            else:
                owner, _, member = path.rpartition(".")
                sets.append(ast.Expr(asked("member_set", _path(owner), ast.Constant(member), entry)))
        getter = self._function(f"{PREFIX}get_{n}", [read], _State([], [], [], []), at)
        setter = self._function(f"{PREFIX}set_{n}", sets, _State(state.names, [], [], []), at, f"{PREFIX}values")
        return [getter, setter]

    def _described(self, n: int, state: _State) -> list[ast.expr]:
        names: list[ast.expr] = [ast.Constant(p) for p in (*state.names, *state.members, *state.held)]
        access: list[ast.expr] = [ast.Name(f"{PREFIX}{what}_{n}", ast.Load()) for what in ("get", "set")]
        needed: list[ast.expr] = [ast.Constant(p) for p in state.needed]
        size = ast.Constant(len(state.names) + len(state.members))
        described = asked("State", *access, ast.Tuple(names, ast.Load()), size, ast.Tuple(needed, ast.Load()))
        return [described]


def _state(node: ast.AST) -> _State:
    return node.state  # type: ignore[attr-defined,no-any-return]


def _path(text: str) -> ast.expr:
    first, *rest = text.split(".")
    node: ast.expr = ast.Name(first, ast.Load())
    for member in rest:
        node = ast.Attribute(node, member, ast.Load())
    return node


def _plainly(test: ast.expr) -> ast.expr:
    """The test of a branch or loop that Python itself takes."""
    asks = asked("plain_test", test)
    return ast.fix_missing_locations(ast.copy_location(asks, test))


def _jumps_inside(loop: ast.While | ast.For) -> bool:
    return jumps(loop.body, ast.Break, ast.Continue)
