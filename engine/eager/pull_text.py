"""The text of ``pull(node, gradients, wrt)``: what gives the gradients of one operator."""

from __future__ import annotations

from collections.abc import Iterator

from ..core.generated_code import indent
from ..ops.opdef import Read
from .slots import Slots


def pull_text(slots: Slots) -> list[str] | None:
    """The lines of the function; None for an operator that gives gradients for a list and something else."""
    reads, wrt = slots.recipe.reads, slots.recipe.wrt
    douts = [r for r in reads if r.kind == "dout"]
    by_list = any(i in slots.lists for i in wrt)
    if (by_list and len(wrt) > 1) or (any(map(slots.many, douts)) and len(douts) > 1):
        return None
    body = ["values = node.kept", "if type(values) is not tuple:", "    values = node.retained()"]
    # what was kept, unless it was overwritten since
    if len(douts) < len(reads):
        names = "".join("_, " if r.kind == "dout" else f"k{n}, " for n, r in enumerate(reads))
        body.append(f"{names}= values")
    if slots.retained():
        body += [f"if {' or '.join(['node.rare is not None', *_overwritten(slots)])}:", "    node.check()"]
    # the gradient kernel, by which gradients are wanted
    operands = ", ".join(_operands(slots))
    if by_list:
        body.append(f"return rule(ops, ({operands},), [[p is not None for p in wrt]], node.call.attrs)[0]")
    elif len(wrt) == 1:
        body.append(f"return (node.call.gradients[1]({operands}),)")
    else:
        mask = " + ".join(f"(w{i} is not None)" + (f" * {1 << i}" if i else "") for i in range(len(wrt)))
        body.append(f"{', '.join(f'w{i}' for i in range(len(wrt)))} = wrt")
        body.append(f"return node.call.gradients[{mask}]({operands})")
    return ["def pull(node, gradients, wrt):", *indent(body)]


def _operands(slots: Slots) -> Iterator[str]:
    """Return the operands of the gradient kernel, one for each of the rule's reads."""
    position = 0
    for n, read in enumerate(slots.recipe.reads):
        if read.kind == "dout":
            position += 1
            yield _arrival(slots, read, position)
        elif slots.is_empty(read):
            yield "()"
        elif read.kind == "in" and not read.like:
            yield _array(slots, read, f"k{n}")
        else:
            yield f"k{n}"


def _arrival(slots: Slots, read: Read, position: int) -> str:
    """The gradient of an output, or those of its list; zeros where none arrived, unless the rule sees to that."""
    if slots.many(read):
        every = "gradients[1:]"
        return every if read.late else f"[zeros(*s) if g is None else g for g, s in zip({every}, node.shapes)]"
    gradient = f"gradients[{position}]"
    if len(slots.recipe.outs) == 1 or read.late:
        return gradient
    return f"({gradient} if {gradient} is not None else zeros(*node.shapes[{position - 1}]))"


def _array(slots: Slots, read: Read, k: str) -> str:
    """The array of a tensor that was kept, or those of a list."""
    if slots.many(read):
        return f"(None if {k} is None else [v.array for v in {k}])"
    return f"(None if {k} is None else {k}.array)" if slots.optional(read) else f"({k}.array)"


def _overwritten(slots: Slots) -> Iterator[str]:
    """Return the condition that kept tensors have been written since they shared nothing."""
    for n, read in enumerate(slots.recipe.reads):
        if read.kind != "in" or read.like or slots.is_empty(read):
            continue
        k = f"k{n}"
        if slots.many(read):
            yield f"any([v._version is not None for v in {k} or ()])"
        elif slots.optional(read):
            yield f"({k} is not None and {k}._version is not None)"
        else:
            yield f"{k}._version is not None"
