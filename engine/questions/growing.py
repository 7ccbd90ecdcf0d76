"""Causes that keep the graphs of earlier steps alive, so that memory grows with every step of a training."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..answers.training.growing_graphs import Growth
from ..answers.training.loop_sums import Stay
from ..core import source, watch
from ..core.command_errors import CommandError
from ..core.records import dataclass
from ..core.source import Location
from ..core.wording import count
from ..eager.tape import GradNode
from ..eager.tensor import Tensor
from ..request.limits import GRAPHS
from ..script.holders import ways
from ..script.script_state import Loaded

_PLACE = re.compile(r"\[\d+\].*")
"""What follows the name of a sequence in the path to one of its entries."""


@dataclass(frozen=True, slots=True)
class Growing:
    """A name that keeps the graphs of earlier steps.

    Attributes:
        path: of the tensor, or of the container that holds the tensors.
        function: whose local name that is; empty for the module.
        stay: what it keeps.
        is_turn: whether no step of a training ends between the graphs: they are of turns of a loop that evaluates.
    """

    path: str
    function: str
    stay: Stay
    is_turn: bool = False

    @property
    def _unit(self) -> str:
        return "turn" if self.is_turn else "step"

    @property
    def how(self) -> str:
        """Kind of the cause: a ``sum``, a ``container``, or an ``attribute`` of an object."""
        if not self.stay.is_one:
            return "container"
        return "attribute" if "." in self.path or "[" in self.path else "sum"

    @property
    def loc(self) -> Location:
        """Place where something is put into the container, if one line of the file does; else where its tensors
        are made.
        """
        return find_storing_line(self.path, self.stay.loc) if self.how == "container" else self.stay.loc

    @property
    def message(self) -> str:
        """Problem in one sentence."""
        where = f"{self.path} in {self.function}()" if self.function else self.path
        means = f"is computed from its own value of the {self._unit} before"
        if self.how == "container":
            means = "holds tensors with their graphs"
        loop = " of its loop" if self.is_turn else ""
        keeps = f"and so keeps the graphs of {count(self.stay.steps, self._unit)}{loop}, which no later backward uses"
        return f"{where} {means}, {keeps}"

    @property
    def amount(self) -> str:
        """Growth in one step."""
        stay = self.stay
        least = "at least " if stay.is_least else ""
        held = "" if stay.is_one else f", {count(stay.held, 'byte')} of the tensors held"
        return (
            f"a {self._unit} adds {count(stay.nodes, 'node')} of the graph, "
            f"{least}{count(stay.saved, 'byte')} that they retain for backward{held}"
        )

    @property
    def advice(self) -> str:
        """Remedy."""
        last = re.split(r"[.\[]", self.path)[-1]
        if self.is_turn:
            value = f"{last} += loss.item()" if self.stay.is_one and self.stay.is_number else "tensor.detach()"
            return f"evaluate inside of no_grad(), or keep no graph: {value}"
        if self.how == "container":
            numbers = "numbers there, loss.item(), or " if self.stay.is_number else ""
            return f"keep {numbers}the tensors without their graphs: tensor.detach()"
        if self.stay.is_number:
            return f"add numbers to {last}: {last} += loss.item(), or detach() what is added"
        return f"detach() {last} once a step, or what is added to it"


@contextmanager
def watch_growth() -> Iterator[Callable[[Loaded], tuple[Growing, ...]]]:
    """Watch the file that runs inside; yield the function that answers while its model is open, once."""
    growth = Growth()

    def answer(left: Loaded) -> tuple[Growing, ...]:
        is_whole = left.calls.stopped is None
        sums = growth.find_sums(is_whole=is_whole)
        turns = is_whole and growth.has_turns_left()
        found: list[Growing] = []
        if growth.outlived or turns:
            held = _find_held(left)
            found += _name_turns(growth, held) if turns else []
            growth.finish()
            found = [*_name_keepers(growth, held), *found]
        found += _name_sums(sums)
        vars(growth).update(vars(Growth()))
        places = [source.file_and_line(g.loc) for g in found]
        return tuple([g for i, g in enumerate(found) if places[i] not in places[:i]])

    with watch.watch(growth.step, growth):
        yield answer


_Held = dict[tuple[str, str], list[Tensor]]
"""The tensors with a graph, by function and path; those in one container by that of the container."""


def _find_held(left: Loaded) -> _Held:
    try:
        meant = left.calls.target_pass()
    except CommandError:
        meant = None
    held: _Held = {}
    for function, path, t in ways(left, left.namespace, meant):
        if isinstance(t, Tensor) and t.node is not None:
            held.setdefault((function, _PLACE.sub("", path)), []).append(t)
    return held


def _name_keepers(growth: Growth, held: _Held) -> Iterator[Growing]:
    """The names that keep the graphs of steps."""
    seen: set[GradNode] = set()
    for (function, path), tensors in held.items():
        stay = growth.find_stay(tensors, seen)
        if stay is not None and stay.steps >= GRAPHS:
            yield Growing(path, function, stay)


def _name_turns(growth: Growth, held: _Held) -> list[Growing]:
    """The containers of what the turns of a loop gave after the last step."""
    measured = [(function, path, growth.measure_held(tensors)) for (function, path), tensors in held.items()]
    return [Growing(path, function, stay, is_turn=True) for function, path, stay in measured if stay is not None]


# -- sums that may be gone when the file ends -------------------------------------------------------------------------


def _name_sums(sums: Iterable[Stay]) -> Iterator[Growing]:
    """Name the sums over turns as the line that adds does; those that it gives no name are left out."""
    for stay in sums:
        named = _read_sum(stay.loc)
        if named is not None:
            path, is_one = named
            inside = stay.loc[0][0].co_name
            function = "" if inside == "<module>" else inside
            yield Growing(path, function, replace(stay, is_one=is_one), is_turn=True)


def _read_sum(loc: Location) -> tuple[str, bool] | None:
    """Read off a line what it adds up, or puts together, and whether that is one tensor; None where it does not say."""
    line = _find_statement(loc)
    if line is None:
        return None
    target = _find_target(line)
    if target is not None and (isinstance(line, ast.AugAssign) or _is_read(target, line.value)):
        return ast.unparse(target), True
    called = [n for n in ast.walk(line) if isinstance(n, ast.Call) and n.args and _last_part(n.func) in _JOINING]
    return (ast.unparse(called[0].args[0]), False) if called else None


_Statement = ast.Assign | ast.AugAssign | ast.Return | ast.Expr


def _find_statement(loc: Location) -> _Statement | None:
    """Find the statement that stands at a place."""
    place = source.file_and_line(loc)
    if place is None:
        return None
    statements = [n for n in _walk_file(place[0]) if isinstance(n, _Statement)]
    return next((n for n in reversed(statements) if n.lineno <= place[1] <= (n.end_lineno or n.lineno)), None)


def _find_target(line: _Statement) -> ast.expr | None:
    """Find the one target of an assignment."""
    if isinstance(line, ast.AugAssign):
        return line.target
    return line.targets[0] if isinstance(line, ast.Assign) and len(line.targets) == 1 else None


def _is_read(target: ast.expr, value: ast.AST | None) -> bool:
    """Return whether a value is computed of what it is given to."""
    text = ast.unparse(target)
    return value is not None and any(isinstance(n, type(target)) and ast.unparse(n) == text for n in ast.walk(value))


_JOINING = frozenset({"sum", "cat", "concat", "concatenate", "stack", "hstack", "vstack", "add_n", "block_diag"})
"""Functions that make one tensor of many."""

_PUTTING = frozenset({"append", "appendleft", "extend", "insert", "add", "put"})
"""Methods that put something into a container."""


def find_storing_line(path: str, made: Location) -> Location:
    """Return where the file that stands at *made* puts something into what is called *path*; *made* if no line does.

    That a tensor is there is known of the run: the text gives the line alone, by the last part of the path.
    """
    place = source.file_and_line(made)
    if place is None:
        return made
    try:
        part = _last_part(ast.parse(path, mode="eval").body)
    except _NO_CODE:
        return made
    lines = [
        node.lineno for node in _walk_file(place[0]) if isinstance(node, ast.Call | ast.stmt) and _fills(node, part)
    ]
    return ((made[0][0], min(lines, key=lambda line: (line < place[1], line))),) if lines else made


def _walk_file(name: str) -> Iterator[ast.AST]:
    """Yield the nodes of a file's syntax tree; none where it is no Python."""
    try:
        yield from ast.walk(ast.parse("".join(linecache.getlines(name))))
    except _NO_CODE:
        return


_NO_CODE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Errors of parsing a text that is no Python, or too deep."""


def _fills(node: ast.AST, part: Any) -> bool:
    """Return whether a piece of code puts something into a container of that name."""
    if isinstance(node, ast.Call):
        called = node.func
        return isinstance(called, ast.Attribute) and called.attr in _PUTTING and _last_part(called.value) == part
    if isinstance(node, ast.AugAssign):
        return bool(_last_part(node.target) == part)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(t, ast.Subscript) and _last_part(t.value) == part for t in targets)


def _last_part(node: ast.AST) -> Any:
    """Return the last name in an expression: a name, or the key of a subscript."""
    if isinstance(node, ast.Subscript):
        return node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
