"""What keeps the graphs of earlier steps alive, so that memory grows with every step of a training."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..answers.training.growing import Growth, Stay
from ..core import source, watch
from ..core.command_errors import CommandError
from ..core.source import Location
from ..core.wording import count
from ..eager.tape import GradNode
from ..eager.tensor import Tensor
from ..script.holders import ways
from ..script.loaded import Loaded

_PLACE = re.compile(r"\[\d+\].*")
"""What follows the name of a sequence in the path to one of its entries."""


@dataclass(frozen=True, slots=True)
class Growing:
    """A name that keeps the graphs of earlier steps.

    Attributes:
        path: of the tensor, or of the container that holds the tensors.
        function: whose local name that is; empty for the module.
        stay: what it keeps.
    """

    path: str
    function: str
    stay: Stay

    @property
    def how(self) -> str:
        """What keeps the graphs: a ``sum``, a ``container``, or an ``attribute`` of an object."""
        if not self.stay.is_one:
            return "container"
        return "attribute" if "." in self.path or "[" in self.path else "sum"

    @property
    def loc(self) -> Location:
        """Where something is put into the container, if one line of the file does; else where its tensors are made."""
        return find_storing_line(self.path, self.stay.loc) if self.how == "container" else self.stay.loc

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        where = f"{self.path} in {self.function}()" if self.function else self.path
        means = {
            "sum": "is computed from its own value of the step before, and so keeps",
            "attribute": "is computed from its own value of the step before, and so keeps",
            "container": "holds tensors with their graphs, and so keeps",
        }[self.how]
        return f"{where} {means} the graphs of {self.stay.steps} steps, which no later backward uses"

    @property
    def amount(self) -> str:
        """How much a step adds."""
        stay = self.stay
        least = "at least " if stay.is_least else ""
        held = "" if stay.is_one else f", {count(stay.held, 'byte')} of the tensors held"
        return (
            f"a step adds {count(stay.nodes, 'node')} of the graph, "
            f"{least}{count(stay.saved, 'byte')} that they retain for backward{held}"
        )

    @property
    def advice(self) -> str:
        """What to do about it."""
        last = re.split(r"[.\[]", self.path)[-1]
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
        found: tuple[Growing, ...] = ()
        if growth.outlived:
            growth.finish()
            found = tuple(_name_keepers(growth, left))
        vars(growth).update(vars(Growth()))
        return found

    with watch.watch(growth.step, growth):
        yield answer


def _name_keepers(growth: Growth, left: Loaded) -> Iterator[Growing]:
    """The names that keep graphs: of tensors in one container that of the container."""
    try:
        meant = left.calls.meant()
    except CommandError:
        meant = None
    held: dict[tuple[str, str], list[Tensor]] = {}
    for function, path, t in ways(left, left.namespace, meant):
        if isinstance(t, Tensor) and t.node is not None:
            held.setdefault((function, _PLACE.sub("", path)), []).append(t)
    seen: set[GradNode] = set()
    for (function, path), tensors in held.items():
        stay = growth.kept_by(tensors, seen)
        if stay is not None:
            yield Growing(path, function, stay)


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
        tree = ast.parse("".join(linecache.getlines(place[0])))
        part = _last_part(ast.parse(path, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return made
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call | ast.stmt) and _fills(node, part)]
    return ((made[0][0], min(lines, key=lambda line: (line < place[1], line))),) if lines else made


def _fills(node: ast.AST, part: Any) -> bool:
    """Whether a piece of code puts something into a container that is called so."""
    if isinstance(node, ast.Call):
        called = node.func
        return isinstance(called, ast.Attribute) and called.attr in _PUTTING and _last_part(called.value) == part
    if isinstance(node, ast.AugAssign):
        return bool(_last_part(node.target) == part)
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(t, ast.Subscript) and _last_part(t.value) == part for t in targets)


def _last_part(node: ast.AST) -> Any:
    """What an expression is called last: a name, or the key of a subscript."""
    if isinstance(node, ast.Subscript):
        return node.slice.value if isinstance(node.slice, ast.Constant) else None
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
