"""The text of ``record(call, x0, x1, …)``: what computes and records the calls of one operator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ..core.generated_code import indent
from ..ops.opdef import Read
from .slots import Slots


def record_text(slots: Slots) -> list[str]:
    """The lines of the function for an operator with these slots."""
    names = ", ".join(f"r{j}" for j in slots.outs)
    arrays = ", ".join(f"a{i}" for i in slots.all)
    results = f"t{slots.only}" if slots.only is not None else ", ".join(f"t{j}" for j in slots.outs)
    body = [
        # calls that other functions record
        *_delegate_lines(slots),
        # arrays, in types that the operator takes
        *(f"a{i} = {slots.array(i)}" for i in slots.all),
        "kernel = call.kernel",
        *_fit_lines(slots),
        # the kernel
        "token = hush(IGNORED)",
        "try:",
        f"    {names} = kernel({arrays})",
        "except Exception as error:",
        f"    raise explained(call, [{arrays}], error) from cause(error)",
        "finally:",
        "    unhush(token)",
    ]
    # tensors, and the node
    for j in slots.outs:
        body += [] if j in slots.bare else _tensors(slots, j)
    if slots.recipe.wrt and slots.recipe.outs:
        stops = " and ".join(slots.stops(i) for i in slots.recipe.wrt)
        body += [f"if grad_enabled() and not ({stops}):", *indent(_record_lines(slots))]
    return [f"def record({_parameters(slots)}):", *indent([*body, f"return {results}"])]


def _parameters(slots: Slots) -> str:
    """The call and the operands; those at the end that may be absent can be left out."""
    needed = [i for i in slots.all if i in slots.lists or (i in slots.singles and not slots.op.inputs[i].optional)]
    required = max(needed, default=-1) + 1
    return ", ".join(["call", *(f"x{i}" if i < required else f"x{i}=None" for i in slots.all)])


def _delegate_lines(slots: Slots) -> list[str]:
    """The lines for lists that were taken to be empty, and for hooks that pack more than the result asked for."""
    pick = "" if slots.only is None else f"[{slots.only}]"
    lines = []
    if slots.empty:
        operands = ", ".join(f"x{i} or ()" if i in slots.empty else f"x{i}" for i in slots.all)
        lines += [
            f"if {' or '.join(f'x{i}' for i in slots.empty)}:",
            f"    return lists.record(lists.call(call.attrs), {operands}){pick}",
        ]
    if slots.only is not None and slots.retained():
        operands = ", ".join(f"x{i}" for i in slots.all)
        lines += ["if packed and packing() is not None:", f"    return record_all(call, {operands}){pick}"]
    return lines


def _fit_lines(slots: Slots) -> list[str]:
    """The lines that look whether the operands that decide the type are float32 or float64 throughout.

    The arrays of NumPy have one object per type, so an identity says so; everything else goes the longer way.
    """
    takes, inputs = slots.op.takes, slots.op.inputs
    places = [i for i in takes.places if i not in slots.empty]
    if not places or (takes.stay is None and len(places) == 1 and places[0] in slots.singles):
        return []
    # the type of one operand, if possible of one that is always there
    first = min(places, key=lambda i: (i in slots.lists, inputs[i].optional, i))
    kind = f"a{first}[0].dtype if a{first} else F32" if first in slots.lists else f"a{first}.dtype"
    if first in slots.singles and inputs[first].optional:
        kind += f" if a{first} is not None else F32"
    # the others against it
    tests = [] if takes.stay is None else ["kind is not F32 and kind is not F64"]
    for i in places:
        if i in slots.lists:
            tests.append(f"[1 for a in a{i} if a.dtype is not kind]")
        elif i != first:
            absent = f"a{i} is not None and " if inputs[i].optional else ""
            tests.append(f"{absent}a{i}.dtype is not kind")
    return [
        f"kind = {kind}",
        f"if {' or '.join(tests)}:",
        f"    kernel, ({slots.row('x')}) = fitted(call, ({slots.row('x')}), ({slots.row('a')}))",
        *(f"    a{i} = {slots.array(i)}" for i in slots.all),
    ]


def _tensors(slots: Slots, j: int) -> list[str]:
    """The lines that make the tensors of output *j*."""
    sources = "".join(f"x{i}, " for i in (*slots.singles, *slots.lists))
    if slots.op.outputs[j].many:
        return [f"t{j} = [settled(r, shares, ({sources})) for r in r{j}]"]
    aliases = "".join(f" or r{j} is a{i}" for i in slots.singles)
    aliases += "".join(f" or [1 for a in a{i} if a is r{j}]" for i in slots.lists)
    is_own = [f"is_own = type(r{j}) is ndarray and (call.makes_own or not (r{j}.base is not None{aliases}))"]
    return [
        *is_own,
        "if not is_own:",
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


def _record_lines(slots: Slots) -> list[str]:
    """The lines that make the node and give the results their places."""
    recipe = slots.recipe
    return [
        *_pack_lines(slots),
        "node = GradNode()",
        "node.call = call",
        f"node.kept = ({''.join(slots.keep_expression(r) + ', ' for r in recipe.reads)})",
        f"node.to = ({''.join(slots.place(i) + ', ' for i in recipe.wrt)})",
        _form(slots),
        "node.rare = None",
        "node.key = next(keys)",
        "frame = frame_at(2)",
        "node.code = code = frame.f_code",
        "if code is call.user and users:",
        "    node.offset = frame.f_lasti",
        "else:",
        "    note_site(node, frame)",
        *_sizes(slots),
        *_count_lines(slots, slots.retained()),
        *chain.from_iterable(_place_lines(slots, n) for n in range(len(recipe.outs))),
        *chain.from_iterable(_idle_lines(slots, j) for j in recipe.idle if j not in slots.bare),
    ]


def _pack_lines(slots: Slots) -> list[str]:
    """The lines for ``saved_tensors_hooks``."""
    if not slots.retained() or slots.only is not None:
        return []
    results = "".join(f"t{j}, " for j in slots.outs)
    return [
        "if packed and packing() is not None:",
        f"    record_by_loops(call, ({slots.row('x')}), ({results}))",
        f"    return {results.removesuffix(', ')}",
    ]


def _form(slots: Slots) -> str:
    """The shapes of the outputs. A small array serves as its own: that is a third of what telling its shape takes."""
    outs = slots.recipe.outs
    shapes = f"({''.join(_shape(slots, j) + ', ' for j in outs)})"
    if len(outs) > 1 or slots.op.outputs[outs[0]].many or outs[0] in slots.bare:
        return f"node.form = {shapes}"
    return f"node.form = r{outs[0]} if is_own and r{outs[0]}.nbytes < FORM_BELOW else {shapes}"


def _shape(slots: Slots, j: int) -> str:
    """Shape and dtype of output *j*, or those of its list."""
    if slots.op.outputs[j].many:
        return f"*[(t.array.shape, t.array.dtype) for t in t{j}]"
    return f"(t{j}.array.shape, t{j}.array.dtype)"


def _sizes(slots: Slots) -> list[str]:
    """The lines that say how what is laid flat is cut into slots."""
    recipe, op = slots.recipe, slots.op
    if not any(i in slots.lists for i in recipe.wrt) and not any(op.outputs[j].many for j in recipe.outs):
        return []
    wrt = "".join(f"len(x{i} or ()), " if op.inputs[i].many else "None, " for i in recipe.wrt)
    outs = "".join(f"len(t{j} or ()), " if op.outputs[j].many else "None, " for j in recipe.outs)
    return [f'node.rare = {{"wrt_sizes": ({wrt}), "out_sizes": ({outs})}}']


def _count_lines(slots: Slots, reads: Sequence[Read]) -> list[str]:
    """The lines that note the write counters of what is kept."""
    tests, counted, lines = [], [], []
    for r in reads:
        name = f"{'x' if r.kind == 'in' else 't'}{r.place}"
        test = f"{name}._version is not None"
        if slots.many(r):
            if r.kind == "out":
                # Made now: afterwards the entries can't be told apart.
                lines.append(f"for t in {name}: t.version")
            tests.append(f"any([v._version is not None for v in {name} or ()])")
            counted.append(f"*({name} or ())")
            continue
        tests.append(f"({name} is not None and {test})" if slots.optional(r) else test)
        counted.append(name)
    if tests:
        lines += [f"if {' or '.join(tests)}:", f"    node.versions = versions_of(({', '.join(counted)},))"]
    return lines


def _place_lines(slots: Slots, n: int) -> list[str]:
    """The lines that give output *n* of those with a gradient its place, or the entries of its list theirs."""
    outs, slot_of = slots.recipe.outs, slots.op.outputs
    j = outs[n]
    start = " + ".join([str(n), *(f"len(t{i}) - 1" for i in outs[:n] if slot_of[i].many)])
    if slot_of[j].many:
        entry = ["t.node = node", "t._stop = False", "t.index = at"]
        return [f"for at, t in enumerate(t{j}, {start}):", *indent(entry)]
    lines = [f"t{j}.node = node", f"t{j}._stop = False"]
    return [*lines, f"t{j}.index = {start}"] if n else lines


def _idle_lines(slots: Slots, j: int) -> list[str]:
    """The lines that let output *j*, which no gradient arrives at, look as it does in Paddle."""
    line = f"t{j}._stop = IDLE"
    return [f"if t{j} is not None:", f"    {line}"] if slots.op.outputs[j].optional else [line]
