"""How calls of one operator are recorded and differentiated: two functions, written out for that operator.

What happens is the same for every operator: arrays out of the tensors, the kernel, tensors for the results, a node with
what the gradient rule reads; and on the way back the retained arrays and the gradients that arrived into the bound
gradient kernel. On small tensors the loops over slots and reads that say so cost several times the arithmetic. So for
an operator whose slots hold single tensors the loops are run once, when it is first used, and leave the two functions
as source text with one line per slot (as ``dataclasses`` does for ``__init__``). Operators with list slots, calls under
``saved_tensors_hooks`` and passes that are recorded themselves take the loops.
"""

from __future__ import annotations

import marshal
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import source
from ..errors import GradtoolError, KernelError, describe
from ..kernels import quiet
from ..kernels.backend import backend
from ..ops import rare
from ..ops.opdef import OpDef, Operand, Read, WrittenRule, specs_of
from ..ops.readings import flatten
from ..rows import RowArray
from ..spec import in_use, when_in_use
from .mode import grad_enabled
from .saved import packing
from .tape import GradNode, PackedValues, Place, each, next_key
from .tensor import Array, Tensor

GHOST_FROM = 1 << 12
"""Bytes from which a tensor that is needed for its shape only is replaced by one that holds a single element."""

REMEMBERED = 1 << 10
"""How many sets of attributes an operator remembers; a number that changes with every step must not pile up."""

_engine = backend("numpy")


class Call:
    """An operator with its attributes, ready to be computed and differentiated.

    Attributes:
        kernel: takes the arrays alone.
        gradients: the gradient kernels, by a number whose bits say which gradients are wanted.
    """

    __slots__ = ("__weakref__", "attrs", "gradients", "kernel", "recipe")

    def __init__(self, recipe: Recipe, attrs: Mapping[str, Any]) -> None:
        self.recipe = recipe
        self.attrs = attrs
        self.bind()
        _calls.add(self)

    def bind(self) -> None:
        """Choose the kernels; once a rare type is in use, those that look out for it."""
        kernel = _engine.bind(self.recipe.op, self.attrs)
        self.kernel = rare.watched(self.recipe.op, self.attrs, kernel) if in_use else kernel
        self.gradients = _Gradients(self)


_calls: weakref.WeakSet[Call] = weakref.WeakSet()


@when_in_use
def _bind_again() -> None:
    for call in list(_calls):
        call.bind()


class _Gradients(dict[int, Callable[..., Any]]):
    """Gradient kernels, bound when first asked for."""

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._call = call

    def __missing__(self, mask: int) -> Callable[..., Any]:
        recipe = self._call.recipe
        wanted = [[bool(mask >> i & 1)] for i in range(len(recipe.wrt))]
        bound = _engine.bind_gradient(recipe.op, self._call.attrs, wanted)
        assert bound is not None, "only rules without list slots are pulled through"
        if in_use:
            assert recipe.op.grad_op is not None
            general = _engine.general(recipe.op.grad_op, self._call.attrs, wanted)
            bound = rare.watched_gradients(recipe.op, self._call.attrs, bound, general)
        self[mask] = bound
        return bound


class Recipe:
    """What recording one operator takes, worked out once.

    Attributes:
        plain: no slot holds a list, so operands and results need no laying flat. An operator whose lists may be empty
            (``ShapeTensor*``) is plain while they are.
        lists: of such an operator, the recipe for calls whose lists are not empty.
        reads: what the gradient rule reads.
        wrt: positions of the inputs with a gradient.
        optional_outputs: whether there are outputs that exist only when they are asked for.
        outs: positions of the outputs whose gradient the rule takes.
        kept_outputs: which of these outputs (by index among them) the rule reads the values of.
        shares: whether the result is the operand's storage on purpose (``detach``).
        default: the call with all attributes at their defaults.
        record: ``record(call, *tensors)`` computes and records one call.
        pull: ``pull(node, gradients, wrt)`` gives the gradients by the places *wrt*; *gradients* holds those of the
            outputs from position 1 on. None where the loops must do it.
    """

    __slots__ = (
        "_calls",
        "count",
        "default",
        "kept_outputs",
        "lists",
        "op",
        "optional_outputs",
        "outs",
        "padding",
        "plain",
        "pull",
        "reads",
        "record",
        "shares",
        "wrt",
    )

    def __init__(self, op: OpDef, lists: bool = False) -> None:
        rule = op.rule
        self.op = op
        self.count = len(op.inputs)
        self.optional_outputs = any(s.optional for s in op.outputs)
        self.padding: tuple[Operand, ...] = tuple([] if s.many else None for s in op.inputs)
        self.reads: tuple[Read, ...] = tuple(rule.reads) if rule is not None else ()
        self.wrt = tuple(rule.wrt) if rule is not None else ()
        data = {0, *self.wrt}
        may_be_empty = [i for i, s in enumerate(op.inputs) if s.many and i not in data]
        self.plain = not lists and not any(
            s.many for s in (*[s for i, s in enumerate(op.inputs) if i in data], *op.outputs)
        )
        self.lists = Recipe(op, lists=True) if self.plain and may_be_empty else None
        self.outs = tuple(r.place for r in self.reads if r.kind == "dout")
        values = {r.place for r in self.reads if r.kind == "out" and not r.like}
        self.kept_outputs = frozenset(i for i, place in enumerate(self.outs) if place in values and self.plain)
        self.shares = op.type == "share_data"
        self.record: Callable[..., Any] = _written_record(self) if self.plain else _record_lists
        self.pull: Callable[..., Sequence[Any]] | None = (
            _written_pull(self) if self.plain and isinstance(rule, WrittenRule) else None
        )
        self._calls: dict[bytes | None, Call] = {}
        self.default = Call(self, op.defaults)

    def call(self, attrs: Mapping[str, Any]) -> Call:
        """The operator with *attrs*, all of them and in the order of the defaults."""
        if attrs is self.op.defaults:
            return self.default
        key = _key(tuple(attrs.values()))
        found = self._calls.get(key)
        if found is None:
            found = self._remembered(key, Call(self, attrs), attrs)
        return found

    def given(self, attrs: Mapping[str, Any]) -> Call:
        """The operator with *attrs* in place of some of the defaults.

        Raises:
            OperatorError: a value of the wrong type (also a TypeError).
        """
        key = _key(attrs)
        found = self._calls.get(key)
        if found is None:
            found = self._remembered(key, self.call(self.op.attributes(attrs)), attrs)
        return found

    def _remembered(self, key: bytes | None, call: Call, attrs: Mapping[str, Any]) -> Call:
        if key is not None and all(map(_simple, attrs.values())):
            if len(self._calls) >= REMEMBERED:
                self._calls.clear()
            self._calls[key] = call
        return call


def _key(attrs: Any) -> bytes | None:
    """Attributes as a key in which 1, 1.0 and True differ, and 0.0 and -0.0; None where there is no such."""
    try:
        return marshal.dumps(attrs, 2)
    except ValueError:
        return None


def _simple(value: Any) -> bool:
    """Whether nothing else has the key of *value*: arrays, whose key is their bytes, are no simple values."""
    if type(value) in (list, tuple):
        return all(map(_simple, value))
    return value is None or type(value) in (bool, float, int, str)


class _Recipes(dict[OpDef, Recipe]):
    __slots__ = ()

    def __missing__(self, op: OpDef) -> Recipe:
        found = self[op] = Recipe(op)
        return found


recipes = _Recipes()
"""The recipe of every operator, made when first asked for."""


# -- the functions that are written out -------------------------------------------------------------------------------


def _written_record(recipe: Recipe) -> Callable[..., Any]:
    """``record(call, x0, x1, …)`` for an operator without list slots."""
    op = recipe.op
    inputs = range(len(op.inputs))
    single = len(op.outputs) == 1
    xs, arrays = [f"x{i}" for i in inputs], [f"a{i}" for i in inputs]
    required = max((i + 1 for i in inputs if not (op.inputs[i].optional or op.inputs[i].many)), default=0)
    lines = [f"def record({', '.join(['call', *xs[:required], *(f'{x}=None' for x in xs[required:])])}):"]
    lists = [f"x{i}" for i in inputs if op.inputs[i].many]
    if lists:
        given = ", ".join(f"{x} or ()" if x in lists else x for x in xs)
        lines += [
            f"    if {' or '.join(lists)}:",
            f"        return lists.record(lists.call(call.attrs), {given})",
        ]
    for i in inputs:
        if op.inputs[i].many:
            lines.append(f"    a{i} = ()")
        else:
            lines.append(
                f"    a{i} = x{i}.array" + (f" if x{i} is not None else None" if op.inputs[i].optional else "")
            )
    singles = [i for i in inputs if not op.inputs[i].many]
    lines += [
        "    token = hush(IGNORED)",
        "    try:",
        f"        found = call.kernel({', '.join(arrays)})",
        "    except Exception as error:",
        f"        raise explained(call, [{', '.join(arrays)}], error) from cause(error)",
        "    finally:",
        "        unhush(token)",
    ]
    if not single:
        names = ", ".join(f"r{j}" for j in range(len(op.outputs)))
        lines.append(f"    {names} = found")
    for j in range(len(op.outputs)):
        r = "found" if single else f"r{j}"
        aliases = "".join(f" or {r} is a{i}" for i in singles)
        lines += [
            f"    if type({r}) is not ndarray or {r}.base is not None{aliases}:",
            f"        t{j} = settled({r}, shares, ({''.join(f'x{i}, ' for i in singles)}))",
            "    else:",
            f"        t{j} = new(Tensor)",
            f"        t{j}.array = {r}",
            f"        t{j}._stop = True",
            f"        t{j}.node = t{j}._version = t{j}._leaf = t{j}._name = None",
            f"        t{j}.index = 0",
            f"        t{j}.loc = ()",
            f"        t{j}.persistable = False",
        ]
    results = ", ".join(f"t{j}" for j in range(len(op.outputs)))
    if recipe.wrt and recipe.outs:
        stopped = " and ".join(
            f"(x{i} is None or x{i}._stop)" if op.inputs[i].optional else f"x{i}._stop" for i in recipe.wrt
        )
        lines.append(f"    if grad_enabled() and not ({stopped}):")
        lines += [f"        {line}" for line in _recording(recipe)]
    lines.append(f"    return {results}")
    return _defined(recipe, lines, "record")


def _recording(recipe: Recipe) -> list[str]:
    """The lines that make the node, give the results their places and leave."""
    op = recipe.op
    operands = "".join(f"x{i}, " for i in range(len(op.inputs)))
    results = "".join(f"t{j}, " for j in range(len(op.outputs)))
    keeps = _keeps(recipe)
    lines = []
    if keeps:
        lines += [
            "if packing() is not None:",
            f"    record_by_loops(call, ({operands}), ({results}))",
            f"    return {results.removesuffix(', ')}",
        ]
    kept = [_kept(op, r) for r in recipe.reads]
    places = [
        f"None if {f'x{i} is None or ' if op.inputs[i].optional else ''}x{i}._stop else (x{i}.node, x{i}.index) "
        f"if x{i}.node is not None else x{i}._leaf or x{i}.leaf"
        for i in recipe.wrt
    ]
    lines += [
        "node = new(GradNode)",
        "node.call = call",
        f"node.kept = ({''.join(k + ', ' for k in kept)})",
        f"node.wrt = ({''.join(p + ', ' for p in places)})",
        f"node.shapes = ({''.join(f'(t{j}.array.shape, t{j}.array.dtype), ' for j in recipe.outs)})",
        "node.key = next_key()",
        "frame = frame_at(2)",
        'node.site = (frame.f_code, frame.f_lasti) if users.get(frame.f_globals.get("__name__")) else site(frame)',
    ]
    counted = [
        (f"x{r.place}", r.kind == "in" and op.inputs[r.place].optional)
        if r.kind == "in"
        else (f"t{r.place}", op.outputs[r.place].optional)
        for r in keeps
    ]
    if counted:
        test = " or ".join(
            f"({n} is not None and {n}._version is not None)" if opt else f"{n}._version is not None"
            for n, opt in counted
        )
        lines += [f"if {test}:", f"    node.versions = versions_of(({''.join(n + ', ' for n, _ in counted)}))"]
    for i, j in enumerate(recipe.outs):
        lines += [f"t{j}.node = node", f"t{j}._stop = False"]
        if i:
            lines.append(f"t{j}.index = {i}")
    return lines


def _keeps(recipe: Recipe) -> list[Read]:
    """The reads whose values a node keeps."""
    op = recipe.op
    return [r for r in recipe.reads if not (r.kind == "dout" or r.like or (r.kind == "in" and op.inputs[r.place].many))]


def _kept(op: OpDef, read: Read) -> str:
    """What a node keeps for one entry of the rule's reads."""
    if read.kind == "dout":
        return "None"
    if read.kind == "in" and op.inputs[read.place].many:
        return "()"
    if read.kind == "in":
        optional = op.inputs[read.place].optional
        name, array = f"x{read.place}", f"a{read.place}"
    else:
        optional = op.outputs[read.place].optional
        name, array = f"t{read.place}", f"t{read.place}.array"
    if read.like:
        held = f"{array} if {array}.nbytes < GHOST_FROM else ghost({array})"
    else:
        held = name if read.kind == "in" else array
    return f"None if {name} is None else {held}" if optional and held != name else held


def _written_pull(recipe: Recipe) -> Callable[..., Any]:
    """``pull(node, gradients, wrt)`` for an operator without list slots."""
    op = recipe.op
    rule = op.rule
    assert isinstance(rule, WrittenRule)
    lines = [
        "def pull(node, gradients, wrt):",
        "    kept = node.kept",
        "    if type(kept) is not tuple:",
        "        kept = node.retained()",
    ]
    names, counted = [], []
    douts = 0
    unpacked = []
    for n, r in enumerate(recipe.reads):
        unpacked.append(f"k{n}" if r.kind != "dout" else "_")
        if r.kind == "dout":
            douts += 1
            g = f"gradients[{douts}]"
            if len(recipe.outs) > 1 and not r.late:
                g = f"({g} if {g} is not None else zeros(*node.shapes[{douts - 1}]))"
            names.append(g)
        elif r.kind == "in" and op.inputs[r.place].many:
            names.append("()")
        elif r.kind == "in" and not r.like:
            optional = op.inputs[r.place].optional
            names.append(f"(None if k{n} is None else k{n}.array)" if optional else f"k{n}.array")
            counted.append(
                f"(k{n} is not None and k{n}._version is not None)" if optional else f"k{n}._version is not None"
            )
        else:
            names.append(f"k{n}")
    if any(u != "_" for u in unpacked):
        lines.append(f"    {''.join(u + ', ' for u in unpacked)}= kept")
    if _keeps(recipe):
        lines += [f"    if {' or '.join(['node.versions', *counted])}:", "        node.check()"]
    arguments = ", ".join(names)
    if len(recipe.wrt) == 1:
        lines.append(f"    return (node.call.gradients[1]({arguments}),)")
    else:
        ws = [f"w{i}" for i in range(len(recipe.wrt))]
        mask = " + ".join(f"(w{i} is not None)" + (f" * {1 << i}" if i else "") for i in range(len(ws)))
        lines += [f"    {', '.join(ws)} = wrt", f"    return node.call.gradients[{mask}]({arguments})"]
    return _defined(recipe, lines, "pull")


def _defined(recipe: Recipe, lines: list[str], name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {
        "GHOST_FROM": GHOST_FROM,
        "GradNode": GradNode,
        "IGNORED": quiet.IGNORED,
        "Tensor": Tensor,
        "__name__": __name__,
        "cause": _cause,
        "explained": _explained,
        "frame_at": sys._getframe,
        "ghost": ghost,
        "grad_enabled": grad_enabled,
        "hush": quiet.hush,
        "lists": recipe.lists,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "next_key": next_key,
        "packing": packing.get,
        "record_by_loops": _record_by_loops,
        "settled": _settled,
        "shares": recipe.shares,
        "site": source.site,
        "unhush": quiet.unhush,
        "users": source.users,
        "versions_of": _versions_of,
        "zeros": np.zeros,
    }
    exec(compile("\n".join(lines), f"<{name} {recipe.op.type}>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def _versions_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """The write counters that tensors have so far, each followed by what it says now."""
    versions: list[Any] = []
    for v in values:
        if v is not None and v._version is not None:
            versions += (v._version, v._version.count)
    return tuple(versions)


def _cause(error: Exception) -> Exception | None:
    return None if isinstance(error, GradtoolError) else error


def _explained(call: Call, arrays: list[Operand], error: Exception) -> GradtoolError:
    """The clearest error there is for a kernel that failed: the shape rule's, if it refuses the operands too."""
    op = call.recipe.op
    made = source.describe(source.here())
    text = f"{op.type}({', '.join(map(str, specs_of(v for v in arrays if v is not None)))})"
    if not isinstance(error, GradtoolError):
        try:
            op.infer_specs(specs_of(arrays), call.attrs)
        except GradtoolError as refused:
            return describe(refused, op=text, made=made)
        return KernelError(f"{op.type} failed: {error}", op=text, made=made)
    return describe(error, op=text, made=made)


def ghost(array: Array) -> Array:
    """An array of the same shape and dtype that does not keep a large buffer alive."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def _settled(array: Any, shares: bool, sources: Sequence[Tensor | None]) -> Tensor | None:
    """The tensor for one result, sharing the write counter of an operand whose storage it shares."""
    if array is None:
        return None
    if isinstance(array, RowArray):
        return Tensor(array)
    if type(array) is not np.ndarray:
        array = np.asarray(array)
    base = array.base
    for v in sources:
        if v is None or isinstance(v.array, RowArray):
            continue
        if array is v.array:
            # An operator's result is a tensor of its own, as assign's is, unless sharing is what it is for.
            return Tensor(array, version=v.version) if shares else Tensor(array.copy())
        if base is not None and (base is v.array or base is v.array.base):
            return Tensor(array, version=v.version)  # a view: writing it in place writes its source
    return Tensor(array)


# -- the loops --------------------------------------------------------------------------------------------------------


def _record_lists(call: Call, *operands: Operand) -> Any:
    """Compute and record one call of an operator with list slots."""
    recipe = call.recipe
    arrays = [arrays_of(v) for v in operands]
    token = quiet.hush(quiet.IGNORED)
    try:
        result = call.kernel(*arrays)
    except Exception as error:
        raise _explained(call, arrays, error) from _cause(error)
    finally:
        quiet.unhush(token)
    sources = flatten(operands, range(recipe.count))
    results = result if isinstance(result, tuple) else (result,)
    tensors = [None if a is None else each(a, lambda part: _settled(part, recipe.shares, sources)) for a in results]
    if recipe.wrt and grad_enabled():
        for v in flatten(operands, recipe.wrt):
            if v is not None and not v._stop:
                _record_by_loops(call, operands, tensors)
                break
    return tuple(tensors) if isinstance(result, tuple) else tensors[0]


def arrays_of(operand: Operand) -> Operand:
    """The array of a tensor, or those of a list of them."""
    if isinstance(operand, Tensor):
        return operand.array
    if operand is None:
        return None
    return [v.array for v in operand]


def _record_by_loops(call: Call, operands: Sequence[Operand], results: Sequence[Operand]) -> None:
    """Make the node of one call and give *results* their places on the tape."""
    recipe = call.recipe
    counted: list[Any] = []
    kept: list[Operand] = []
    hooks = packing.get()
    for kind, place, like, _ in recipe.reads:
        value = None if kind == "dout" else operands[place] if kind == "in" else results[place]
        if value is None:
            kept.append(None)
        elif like:
            kept.append(each(value, _slim))
        elif hooks is not None:
            kept.append(each(value, hooks.pack if kind == "in" else hooks.pack_values))
        else:
            # Only the values of a result: the node must not point to what points to it.
            kept.append(value if kind == "in" else arrays_of(value))
            entries = [value] if isinstance(value, Tensor) else value
            counted += entries
            if kind == "out":
                for v in entries:
                    _ = v.version  # made now: afterwards the list's entries can't be told apart
    wanted = flatten(operands, recipe.wrt)
    outs = flatten(results, recipe.outs)
    wrt: list[Place | None] = [
        None if v is None or v._stop else v.leaf if v.node is None else (v.node, v.index) for v in wanted
    ]
    node = GradNode(
        call,
        tuple(kept) if hooks is None else PackedValues(kept),
        tuple(wrt),
        tuple([(v.array.shape, v.array.dtype) for v in outs]),
    )
    versions = _versions_of(counted)
    if versions:
        node.versions = versions
    if not recipe.plain:
        node.wrt_sizes = [_size(operands[i]) for i in recipe.wrt]
        node.out_sizes = [_size(results[j]) for j in recipe.outs]
    for i, v in enumerate(outs):
        v.node = node
        v.index = i
        v._stop = False


def _slim(value: Tensor) -> Array:
    return value.array if value.array.nbytes < GHOST_FROM else ghost(value.array)


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None
