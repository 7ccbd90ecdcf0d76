"""Names that expressions see: arrays that nobody can change, the operator at the cursor, and the user's own names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool.engine.core.near_names import find_near as closest
from gradtool.engine.runs.timeline import NOBODY, Entry

from .errors import VerbError, unknown

if TYPE_CHECKING:
    from .session import Session


class TensorsByName(Mapping[str, Any]):
    """``v["h@GRAD"]``: a tensor by name, as it is at the cursor (or, if it is not made yet, as it will be)."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> Any:
        return freeze(self._session.branch.value(self._session.number(name)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._session.timeline.find(name, self._session.cursor) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._session.timeline.names)

    def __len__(self) -> int:
        return len(self._session.timeline.names)

    def __repr__(self) -> str:
        return f"<{len(self)} tensors; v[NAME] is an array>"


class Op:
    """An operator, for expressions: ``cur.name``, ``cur.ins["X"]``, ``cur.fwd``."""

    def __init__(self, session: Session, entry: Entry) -> None:
        self._session = session
        self._entry = entry

    @property
    def name(self) -> str:
        return self._entry.name

    @property
    def type(self) -> str:
        return self._entry.type

    @property
    def part(self) -> str:
        return self._entry.part

    @property
    def layer(self) -> str:
        return self._entry.layer

    @property
    def ins(self) -> dict[str, Any]:
        """Values that it reads, by slot; a list where a slot holds several."""
        return _group_slots([(s, self._session.branch.value(n, self._entry.index)) for s, n in self._entry.reads])

    @property
    def outs(self) -> dict[str, Any]:
        """Values that it makes, by slot."""
        return _group_slots([(s, self._session.branch.make(n)) for s, n in self._entry.outs if n >= 0])

    @property
    def fwd(self) -> Op | None:
        """The operator that it differentiates; of a forward operator, None."""
        if not self._entry.backward or self._entry.pair == NOBODY:
            return None
        return Op(self._session, self._session.timeline.entries[self._entry.pair])

    @property
    def dout(self) -> Any:
        """The gradient that arrives: an array, a list of several, or None."""
        gradients = [a for s, a in self.ins.items() if s.endswith("@GRAD")]
        return gradients[0] if len(gradients) == 1 else gradients or None

    def __repr__(self) -> str:
        return f"<{self.name} {self.part}>"


class Graph:
    """The whole run, for expressions: ``g.ops``, ``g["relu.0"]``, ``g.names``."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def ops(self) -> list[Op]:
        return [Op(self._session, e) for e in self._session.timeline.entries]

    @property
    def names(self) -> list[str]:
        return self._session.timeline.names

    def __getitem__(self, name: str) -> Op:
        return Op(self._session, self._session.entry(name))

    def __len__(self) -> int:
        return len(self._session.timeline.entries)

    def __repr__(self) -> str:
        return f"<{len(self)} operators of {self._session.timeline.title}>"


def _group_slots(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for slot, array in pairs:
        array = freeze(array)
        if slot in slots:
            slots[slot] = [*(slots[slot] if isinstance(slots[slot], list) else [slots[slot]]), array]
        else:
            slots[slot] = array
    return slots


def freeze(array: Any) -> Any:
    """*array* as one that cannot be written to; selected rows become dense."""
    if array is None or not hasattr(array, "dtype"):
        return array
    seen = np.asarray(array).view()
    seen.flags.writeable = False
    return seen


def names_at(session: Session, entry: Entry | None) -> dict[str, Any]:
    """The names that expressions see beside the user's own."""
    op = Op(session, entry) if entry is not None else None
    return {
        **session.locals,
        "np": np,
        "g": Graph(session),
        "v": TensorsByName(session),
        "cur": op,
        "fwd": op.fwd if op is not None else None,
        "ins": _Lazy(op, "ins"),
        "outs": _Lazy(op, "outs"),
        "dout": _LAZY_DOUT,
    }


class _Lazy(Mapping[str, Any]):
    """``ins`` and ``outs``: read when they are asked, so that expressions pay for what they use."""

    def __init__(self, op: Op | None, which: str) -> None:
        self._op = op
        self._which = which

    def _slots(self) -> dict[str, Any]:
        return getattr(self._op, self._which) if self._op is not None else {}

    def __getitem__(self, slot: str) -> Any:
        slots = self._slots()
        if slot not in slots:
            raise unknown("slot", slot, slots)
        return slots[slot]

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots())

    def __len__(self) -> int:
        return len(self._slots())

    def __repr__(self) -> str:
        return repr(self._slots())


_LAZY_DOUT = object()


class ExpressionNames(dict[str, Any]):
    """The names of one expression: the user's own first, then the session's."""

    def __init__(self, own: dict[str, Any], names: dict[str, Any]) -> None:
        super().__init__(own)
        self._names = names

    def __missing__(self, name: str) -> Any:
        value = self._names[name]
        if value is _LAZY_DOUT:
            cur = self._names["cur"]
            return cur.dout if cur is not None else None
        return value


_TENSOR = re.compile(r"""\s*v\[("[^"'\\\n]*"|'[^"'\\\n]*')\](\[[-\d\s,:]*\])?\s*""")


def is_tensor(text: str) -> bool:
    """Return whether an expression does no more than name a tensor or a part of it: ``v["h@GRAD"][0, :3]``."""
    return _TENSOR.fullmatch(text) is not None


def evaluate(session: Session, text: str, entry: Entry | None) -> Any:
    """The value of an expression as seen from *entry*.

    Raises:
        VerbError: it is no expression. What it raises itself passes.
        NotTrusted: it stands in a saved session that is not trusted.
    """
    if not is_tensor(text):
        session.permit(text.strip())
    try:
        code = compile(text.strip(), "<debugger>", "eval")
    except SyntaxError as error:
        raise VerbError(f"{text.strip()!r} is no Python expression: {error.msg}.") from None
    return eval(code, ExpressionNames(session.names, names_at(session, entry)))


def run(session: Session, text: str) -> tuple[Any, bool]:
    """Run Python of one or several lines; the value of the last expression, and whether there is one.

    The user's own names change only if all of it succeeds.
    """
    session.permit(text.strip())
    tree = ast.parse(text, "<debugger>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    names = ExpressionNames(session.names, names_at(session, session.current))
    value = None
    if tree.body:
        exec(compile(tree, "<debugger>", "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "<debugger>", "eval"), names)
    session.names = {k: a for k, a in names.items() if k != "__builtins__"}
    return value, last is not None


def near_names(session: Session, name: str, verbs: Mapping[str, Any]) -> list[str]:
    """Names of tensors and verbs close to one that is not known."""
    return list(closest(name, [*verbs, *session.timeline.names]))
