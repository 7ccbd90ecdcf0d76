"""How calls of one operator are recorded and differentiated: two functions, written out for that operator.

What happens is the same for every operator: arrays out of the tensors, the kernel, tensors for the results, a node with
what the gradient rule reads; and on the way back the retained arrays and the gradients that arrived into the bound
gradient kernel. On small tensors the loops over slots and reads that say so cost several times the arithmetic. So the
loops are run once for an operator, when it is first used, and leave the two functions as source text with one line
per slot (as ``dataclasses`` does for ``__init__``). Calls under ``saved_tensors_hooks`` and passes that are recorded
themselves do take the loops (``unusual.py``, ``backward.py``).

In the text, ``x0`` is an operand (a tensor, None or a list), ``a0`` its array or arrays, ``r0`` what the kernel gave
for an output, ``t0`` the tensor or tensors of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import source
from ..core.spec import float32, float64
from ..kernels import quiet
from ..ops.opdef import Read, WrittenRule
from .fitting import fitted
from .mode import grad_enabled
from .saved import packing
from .tape import GradNode, next_key
from .tensor import Tensor
from .unusual import GHOST_FROM, cause, explained, ghost, record_by_loops, settled, slim, versions_of

if TYPE_CHECKING:
    from .recipe import Recipe


class _Slots:
    """The slots of an operator, as the functions see them.

    Attributes:
        singles, lists, empty: positions of the inputs that hold one tensor (or None), that hold lists, and that are
            lists taken to be empty.
        outs: positions of the outputs.
        bare: the outputs that need not become tensors, as nobody asks for more than their shape.
    """

    def __init__(self, recipe: Recipe, only: int | None = None) -> None:
        op = recipe.op
        self.recipe = recipe
        self.op = op
        self.all = range(len(op.inputs))
        self.singles = [i for i in self.all if not op.inputs[i].many]
        self.lists = [i for i in self.all if i in recipe.listed]
        self.empty = [i for i in self.all if op.inputs[i].many and i not in recipe.listed]
        self.outs = range(len(op.outputs))
        values = {r.place for r in recipe.reads if r.kind != "in" and not r.like}
        self.bare = [j for j in self.outs if only is not None and j != only and j not in values]

    def optional(self, read: Read) -> bool:
        """Whether what *read* reads may be absent."""
        return (self.op.inputs if read.kind == "in" else self.op.outputs)[read.place].optional

    def many(self, read: Read) -> bool:
        """Whether *read* reads a list."""
        return (self.op.inputs if read.kind == "in" else self.op.outputs)[read.place].many

    def kept(self) -> list[Read]:
        """The reads whose values a node keeps."""
        return [
            r
            for r in self.recipe.reads
            if not (r.kind == "dout" or r.like or (r.kind == "in" and r.place in self.empty))
        ]


def written_record(recipe: Recipe, only: int | None = None) -> Callable[..., Any]:
    """``record(call, x0, x1, …)`` for an operator.

    Args:
        only: give this output alone; others become tensors only where the gradient rule reads their values.
    """
    slots = _Slots(recipe, only)
    op = recipe.op
    xs, arrays = [f"x{i}" for i in slots.all], [f"a{i}" for i in slots.all]
    pick = "" if only is None else f"[{only}]"
    required = max(
        (i + 1 for i in slots.all if i in slots.lists or (i in slots.singles and not op.inputs[i].optional)), default=0
    )
    lines = [f"def record({', '.join(['call', *xs[:required], *(f'{x}=None' for x in xs[required:])])}):"]
    if slots.empty:
        given = ", ".join(f"x{i} or ()" if i in slots.empty else f"x{i}" for i in slots.all)
        lines += [
            f"    if {' or '.join(f'x{i}' for i in slots.empty)}:",
            f"        return lists.record(lists.call(call.attrs), {given}){pick}",
        ]
    if only is not None and slots.kept():
        lines += ["    if packing() is not None:", f"        return record_all(call, {', '.join(xs)}){pick}"]
    for i in slots.all:
        lines.append(f"    a{i} = {_array(slots, i)}")
    names = ", ".join(f"r{j}" for j in slots.outs)
    lines.append("    kernel = call.kernel")
    lines += [f"    {line}" for line in _fitting(slots)]
    lines += [
        "    token = hush(IGNORED)",
        "    try:",
        f"        {names} = kernel({', '.join(arrays)})",
        "    except Exception as error:",
        f"        raise explained(call, [{', '.join(arrays)}], error) from cause(error)",
        "    finally:",
        "        unhush(token)",
    ]
    for j in slots.outs:
        if j not in slots.bare:
            lines += [f"    {line}" for line in _tensors(slots, j)]
    results = ", ".join(f"t{j}" for j in slots.outs) if only is None else f"t{only}"
    if recipe.wrt and recipe.outs:
        stops = " and ".join(_stops(slots, i) for i in recipe.wrt)
        lines.append(f"    if grad_enabled() and not ({stops}):")
        lines += [f"        {line}" for line in _recording(slots, only is None)]
    lines.append(f"    return {results}")
    return _defined(recipe, lines, "record")


def _array(slots: _Slots, i: int) -> str:
    """The array or arrays of input *i*."""
    if i in slots.empty:
        return "()"
    if i in slots.lists:
        return f"[v.array for v in x{i}]"
    return f"x{i}.array" + (f" if x{i} is not None else None" if slots.op.inputs[i].optional else "")


def _fitting(slots: _Slots) -> list[str]:
    """The lines that look whether the operands that decide the type are float32 or float64 throughout.

    The arrays of NumPy have one object per type, so an identity says so; everything else goes the longer way.
    """
    takes = slots.op.takes
    places = [i for i in takes.places if i not in slots.empty]
    if not places or (takes.stay is None and len(places) == 1 and places[0] in slots.singles):
        return []
    first = min(places, key=lambda i: (i in slots.lists, slots.op.inputs[i].optional, i))
    kind = f"a{first}[0].dtype if a{first} else F32" if first in slots.lists else f"a{first}.dtype"
    if first in slots.singles and slots.op.inputs[first].optional:
        kind += f" if a{first} is not None else F32"
    tests = ["kind is not F32 and kind is not F64"]
    for i in places:
        if i in slots.lists:
            tests.append(f"[1 for a in a{i} if a.dtype is not kind]")
        elif i != first:
            absent = f"a{i} is not None and " if slots.op.inputs[i].optional else ""
            tests.append(f"{absent}a{i}.dtype is not kind")
    if takes.stay is None:
        del tests[0]
    operands, arrays = ("".join(f"{letter}{i}, " for i in slots.all) for letter in "xa")
    return [
        f"kind = {kind}",
        f"if {' or '.join(tests)}:",
        f"    kernel, ({operands}) = fitted(call, ({operands}), ({arrays}))",
        *(f"    a{i} = {_array(slots, i)}" for i in slots.all),
    ]


def _tensors(slots: _Slots, j: int) -> list[str]:
    """The lines that make the tensors of output *j*."""
    sources = "".join(f"x{i}, " for i in (*slots.singles, *slots.lists))
    if slots.op.outputs[j].many:
        return [f"t{j} = [settled(r, shares, ({sources})) for r in r{j}]"]
    aliases = "".join(f" or r{j} is a{i}" for i in slots.singles)
    aliases += "".join(f" or [1 for a in a{i} if a is r{j}]" for i in slots.lists)
    return [
        f"if type(r{j}) is not ndarray or r{j}.base is not None{aliases}:",
        f"    t{j} = settled(r{j}, shares, ({sources}))",
        "else:",
        f"    t{j} = new(Tensor)",
        f"    t{j}.array = r{j}",
        f"    t{j}._stop = True",
        f"    t{j}.node = t{j}._version = t{j}._leaf = t{j}._name = None",
        f"    t{j}.index = 0",
        f"    t{j}.loc = ()",
        f"    t{j}.persistable = False",
    ]


def _stops(slots: _Slots, i: int) -> str:
    """Whether no gradient is wanted for input *i*."""
    if i in slots.lists:
        return f"all([v._stop for v in x{i} or ()])"
    return f"(x{i} is None or x{i}._stop)" if slots.op.inputs[i].optional else f"x{i}._stop"


def _recording(slots: _Slots, whole: bool) -> list[str]:
    """The lines that make the node and give the results their places."""
    recipe, op = slots.recipe, slots.op
    keeps = slots.kept()
    lines = []
    if keeps and whole:
        operands = "".join(f"x{i}, " for i in slots.all)
        results = "".join(f"t{j}, " for j in slots.outs)
        lines += [
            "if packing() is not None:",
            f"    record_by_loops(call, ({operands}), ({results}))",
            f"    return {results.removesuffix(', ')}",
        ]
    shapes = "".join(
        f"*[(t.array.shape, t.array.dtype) for t in t{j}], "
        if op.outputs[j].many
        else f"(t{j}.array.shape, t{j}.array.dtype), "
        for j in recipe.outs
    )
    lines += [
        "node = new(GradNode)",
        "node.call = call",
        f"node.kept = ({''.join(_kept(slots, r) + ', ' for r in recipe.reads)})",
        f"node.wrt = ({''.join(_place(slots, i) + ', ' for i in recipe.wrt)})",
        f"node.shapes = ({shapes})",
        "node.key = next_key()",
        "frame = frame_at(2)",
        'node.site = (frame.f_code, frame.f_lasti) if users.get(frame.f_globals.get("__name__")) else site(frame)',
    ]
    if any(i in slots.lists for i in recipe.wrt) or any(op.outputs[j].many for j in recipe.outs):
        for name, places, slot, letter in (
            ("wrt_sizes", recipe.wrt, op.inputs, "x"),
            ("out_sizes", recipe.outs, op.outputs, "t"),
        ):
            sizes = "".join(f"len({letter}{i} or ()), " if slot[i].many else "None, " for i in places)
            lines.append(f"node.{name} = ({sizes})")
    lines += _counting(slots, keeps)
    for n, j in enumerate(recipe.outs):
        if op.outputs[j].many:
            start = " + ".join([str(n), *(f"len(t{i}) - 1" for i in recipe.outs[:n] if op.outputs[i].many)])
            lines += [
                f"for at, t in enumerate(t{j}, {start}):",
                "    t.node = node",
                "    t._stop = False",
                "    t.index = at",
            ]
            continue
        lines += [f"t{j}.node = node", f"t{j}._stop = False"]
        if n:
            start = " + ".join([str(n), *(f"len(t{i}) - 1" for i in recipe.outs[:n] if op.outputs[i].many)])
            lines.append(f"t{j}.index = {start}")
    return lines


def _counting(slots: _Slots, keeps: Sequence[Read]) -> list[str]:
    """The lines that note the write counters of what is kept."""
    tests, counted, lines = [], [], []
    for r in keeps:
        name = f"{'x' if r.kind == 'in' else 't'}{r.place}"
        if slots.many(r):
            if r.kind == "out":
                # Made now: afterwards the entries can't be told apart.
                lines.append(f"for t in {name}: t.version")
            tests.append(f"any([v._version is not None for v in {name} or ()])")
            counted.append(f"*({name} or ())")
        else:
            tests.append(
                f"({name} is not None and {name}._version is not None)"
                if slots.optional(r)
                else f"{name}._version is not None"
            )
            counted.append(name)
    if tests:
        lines += [f"if {' or '.join(tests)}:", f"    node.versions = versions_of(({', '.join(counted)},))"]
    return lines


def _place(slots: _Slots, i: int) -> str:
    """The place of input *i* on the tape, or those of its list."""
    place = "None if {0}._stop else ({0}.node, {0}.index) if {0}.node is not None else {0}._leaf or {0}.leaf"
    if i in slots.lists:
        return f"*[{place.format('v')} for v in x{i} or ()]"
    x = f"x{i}"
    return (f"None if {x} is None else " if slots.op.inputs[i].optional else "") + place.format(x)


def _kept(slots: _Slots, read: Read) -> str:
    """What a node keeps for one entry of the rule's reads."""
    if read.kind == "dout":
        return "None"
    if read.kind == "in" and read.place in slots.empty:
        return "()"
    name, array = (
        (f"x{read.place}", f"a{read.place}") if read.kind == "in" else (f"t{read.place}", f"t{read.place}.array")
    )
    if slots.many(read):
        held = (
            f"slim(v) for v in {name}" if read.like else f"*{name}" if read.kind == "in" else f"v.array for v in {name}"
        )
        return f"None if {name} is None else [{held}]"
    if read.kind == "out" and read.place in slots.bare:
        name = array = f"r{read.place}"
    if read.like:
        held = f"{array} if {array}.nbytes < GHOST_FROM else ghost({array})"
    else:
        held = name if read.kind == "in" else array
    return f"None if {name} is None else {held}" if slots.optional(read) and held != name else held


def written_pull(recipe: Recipe) -> Callable[..., Any] | None:
    """``pull(node, gradients, wrt)`` for an operator; None where it gives gradients for a list and something else."""
    rule = recipe.op.rule
    assert isinstance(rule, WrittenRule)
    slots = _Slots(recipe)
    listed = any(i in slots.lists for i in recipe.wrt)
    douts = [r for r in recipe.reads if r.kind == "dout"]
    if (listed and len(recipe.wrt) > 1) or (any(map(slots.many, douts)) and len(douts) > 1):
        return None
    lines = [
        "def pull(node, gradients, wrt):",
        "    kept = node.kept",
        "    if type(kept) is not tuple:",
        "        kept = node.retained()",
    ]
    arguments, counted = [], []
    at = 0
    for n, r in enumerate(recipe.reads):
        k = f"k{n}"
        if r.kind == "dout":
            at += 1
            g = f"gradients[{at}]"
            if slots.many(r):
                g = "gradients[1:]"
                if not r.late:
                    g = f"[zeros(*s) if g is None else g for g, s in zip({g}, node.shapes)]"
            elif len(recipe.outs) > 1 and not r.late:
                g = f"({g} if {g} is not None else zeros(*node.shapes[{at - 1}]))"
            arguments.append(g)
        elif r.kind == "in" and r.place in slots.empty:
            arguments.append("()")
        elif r.kind == "in" and not r.like:
            absent = f"None if {k} is None else " if slots.optional(r) or slots.many(r) else ""
            if slots.many(r):
                arguments.append(f"({absent}[v.array for v in {k}])")
                counted.append(f"any([v._version is not None for v in {k} or ()])")
            else:
                arguments.append(f"({absent}{k}.array)")
                counted.append(
                    f"({k} is not None and {k}._version is not None)" if absent else f"{k}._version is not None"
                )
        else:
            arguments.append(k)
    if len(douts) < len(recipe.reads):
        names = "".join("_, " if r.kind == "dout" else f"k{n}, " for n, r in enumerate(recipe.reads))
        lines.append(f"    {names}= kept")
    if slots.kept():
        lines += [f"    if {' or '.join(['node.versions', *counted])}:", "        node.check()"]
    given = ", ".join(arguments)
    if listed:
        lines.append(f"    return rule(ops, ({given},), [[p is not None for p in wrt]], node.call.attrs)[0]")
    elif len(recipe.wrt) == 1:
        lines.append(f"    return (node.call.gradients[1]({given}),)")
    else:
        ws = [f"w{i}" for i in range(len(recipe.wrt))]
        mask = " + ".join(f"(w{i} is not None)" + (f" * {1 << i}" if i else "") for i in range(len(ws)))
        lines += [f"    {', '.join(ws)} = wrt", f"    return node.call.gradients[{mask}]({given})"]
    return _defined(recipe, lines, "pull")


def _defined(recipe: Recipe, lines: list[str], name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {
        "F32": float32.numpy,
        "F64": float64.numpy,
        "GHOST_FROM": GHOST_FROM,
        "GradNode": GradNode,
        "IGNORED": quiet.IGNORED,
        "Tensor": Tensor,
        "__name__": __name__,
        "cause": cause,
        "explained": explained,
        "fitted": fitted,
        "frame_at": sys._getframe,
        "ghost": ghost,
        "grad_enabled": grad_enabled,
        "hush": quiet.hush,
        "lists": recipe.lists,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "next_key": next_key,
        "ops": recipe.backend.ops,
        "packing": packing.get,
        "record_all": getattr(recipe, "written", None),
        "record_by_loops": record_by_loops,
        "rule": recipe.op.rule,
        "settled": settled,
        "shares": recipe.shares,
        "site": source.site,
        "slim": slim,
        "unhush": quiet.unhush,
        "users": source.users,
        "versions_of": versions_of,
        "zeros": np.zeros,
    }
    exec(compile("\n".join(lines), f"<{name} {recipe.op.type}>", "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function
