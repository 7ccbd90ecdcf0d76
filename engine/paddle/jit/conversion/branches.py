"""``if`` in rewritten functions: Python's own way, or both ways in blocks of a program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from gradtool import paddle
from gradtool.engine.ir import build, default
from gradtool.engine.ir.holders import close_conditional
from gradtool.engine.ir.program import Block
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _creation, _logic
from gradtool.paddle.static._branches import number

from ....engine.core.identity import identity
from .attributes import Attributes
from .containers import Containers, put
from .growing import branching
from .merging import Merging, copied_out
from .refusals import Unset, refused

Way = Callable[[], Any]


class State(NamedTuple):
    """Names that a branch or a loop may change.

    Attributes:
        get: gives all of them in the order of *names*; an :class:`Unset` for what has no value.
        set: takes the first *size* of them.
        names: of variables, of attributes, and then of what is looked at for its contents only.
        size: how many can be set.
        needed: of the names, those that are read elsewhere.
    """

    get: Callable[[], tuple[Any, ...]]
    set: Callable[[Any], None]
    names: tuple[str, ...]
    size: int
    needed: tuple[str, ...]


def truth(test: Any) -> Any:
    """Return the condition of a branch: the truth of a Python value, or a bool variable of one element."""
    if not isinstance(test, Variable):
        return bool(test)
    if test.spec.count not in (1, -1):
        raise refused(
            f"the truth of '{test.name}', a tensor of shape {list(test.shape)}, is asked for",
            "ask one element, or all of them: x.all(), x.any()",
        )
    if test.dtype.name != "bool":
        test = _creation.cast(test, "bool")  # as Python has it: what is not zero
    return scalar(test)


def scalar(value: Any) -> Any:
    """A number as it is, a tensor of one element without dimensions."""
    if isinstance(value, Variable) and value.ndim:
        return paddle.reshape(value, [])
    return value


def branched(test: Any, on_true: Way, on_false: Way, state: State) -> None:
    """``if test: on_true() else: on_false()``."""
    decides = truth(test)
    if not isinstance(decides, Variable):
        (on_true if decides else on_false)()
        return
    _built(decides, on_true, on_false, state)


def returned(test: Any, on_true: Way, on_false: Way, state: State) -> Any:
    """Return the value of the way that *test* chooses; every way returns."""
    decides = truth(test)
    if not isinstance(decides, Variable):
        return on_true() if decides else on_false()
    result = _built(decides, on_true, on_false, state)
    if isinstance(result, Unset):
        raise refused(
            f"no program can choose between what is returned or computed here: {result.why}",
            "give values of the same structure, shapes and types on every way",
            result.place,
        )
    return result


def chosen(test: Any, on_true: Way, on_false: Way) -> Any:
    """``on_true() if test else on_false()``."""
    return returned(test, on_true, on_false, _NO_STATE)


_NO_STATE = State(lambda: (), lambda values: None, (), 0, ())


class _Built(NamedTuple):
    """One way of a branch, in a block.

    Attributes:
        values: the result, and after it what the names hold.
        contents: what containers hold that it changed.
    """

    block: Block
    values: list[Any]
    contents: dict[int, tuple[Any, Any]]


def _built(decides: Variable, on_true: Way, on_false: Way, state: State) -> Any:
    """Build both ways, and give names and containers what the program chooses; the chosen result."""
    program = default.default_main_program()
    parent = program.current_block()
    otherwise: Any = _logic.logical_not(decides)
    before = state.get()
    containers = Containers(before)
    pair = []
    for way in (on_true, on_false):
        state.set(before)
        containers.restore()
        block = program._create_block()
        attributes = Attributes(state.names)
        with branching():
            result = way()
        attributes.check()
        values = [result, *state.get()]
        contents = {identity(c): (c, c.copy()) for c, _ in containers.changed()}
        program._rollback()
        pair.append(_Built(block, values, contents))
    containers.restore()
    yes, no = pair
    mask: list[Any] = []

    def select(t: Any, f: Any) -> Any:
        if not mask:
            mask.append(None)
        return _Choice(t, f)

    merging = Merging(partial(_inside, yes.block, parent), partial(_inside, no.block, parent), select)
    results = [merging.one(n, t, f) for n, t, f in zip(("", *state.names), yes.values, no.values, strict=True)]
    changes = _merged_contents(containers, yes, no, merging)
    close_conditional(parent, yes.block, decides)
    close_conditional(parent, no.block, otherwise)
    if mask:
        mask[0] = _creation.cast(decides, "int32")
    values = [_resolved(v, mask[0] if mask else None) for v in results]
    for container, held in changes:
        put(container, _resolved(held, mask[0] if mask else None))
    state.set(values[1:])
    return values[0]


class _Choice:
    """Two values of which the program will choose one, once both ways are closed."""

    __slots__ = ("f", "t")

    def __init__(self, t: Any, f: Any) -> None:
        self.t = t
        self.f = f


def _inside(block: Block, parent: Block, value: Any) -> Any:
    with default.append_to(block):
        return copied_out(parent, value)


def _resolved(value: Any, mask: Any) -> Any:
    """*value* with an operator in the place of every choice."""
    if isinstance(value, _Choice):
        return _selected(value, mask)
    if isinstance(value, dict):
        return {k: _resolved(v, mask) for k, v in value.items()} if _has_choice(value) else value
    if isinstance(value, (list, tuple)) and _has_choice(value):
        entries = [_resolved(v, mask) for v in value]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    return value


def _has_choice(value: Any) -> bool:
    if isinstance(value, _Choice):
        return True
    if isinstance(value, dict):
        return any(_has_choice(v) for v in value.values())
    return isinstance(value, (list, tuple)) and any(_has_choice(v) for v in value)


def _selected(choice: _Choice, mask: Any) -> Any:
    pair = (choice.f, choice.t)
    like = next((v.dtype for v in pair if isinstance(v, Variable)), None)
    both = tuple(v if isinstance(v, Variable) else number(v, like) for v in pair)
    program = default.default_main_program()
    op = registry.get_by_type("select_input")
    operator = build.emit(program.current_block(), op, (both, mask), {}, [program.names("_generated_var")])
    out: Any = operator.outputs[0]
    out.stop_gradient = all(v.stop_gradient for v in both)
    return out


def _merged_contents(containers: Containers, yes: _Built, no: _Built, merging: Merging) -> list[tuple[Any, Any]]:
    """Return the contents of containers after the branch, for those that a way has changed."""
    merged = []
    for key in dict.fromkeys((*yes.contents, *no.contents)):
        container, held = containers.contents[key]
        sides = [way.contents.get(key, (container, held))[1] for way in (yes, no)]
        value = merging.one("", *sides)
        if isinstance(container, set) or isinstance(value, Unset):
            why = value.why if isinstance(value, Unset) else "the ways of the branch change a set"
            raise refused(
                f"a {type(container).__name__} is changed under a condition that a tensor decides: {why}",
                "change it on both ways alike, or choose between tensors by paddle.where",
                merging.place,
            )
        merged.append((container, value))
    return merged
