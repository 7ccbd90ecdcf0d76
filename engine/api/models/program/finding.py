"""Finding the loss, the program and the feed in what a model file left behind (product, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradtool.engine.core import state
from gradtool.engine.ir import roles
from gradtool.engine.ir.operator import each
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.strip import strip_backward
from gradtool.engine.ir.variable import Variable
from gradtool.nn import Layer

from .. import loader
from ..errors import CommandError, unknown
from ..loader import Loaded, Request
from .model import ProgramModel

_USUAL = ("loss", "avg_loss", "total_loss", "cost", "avg_cost")
"""Python names that say which of several candidates is the loss."""


def find(left: Loaded, request: Request) -> ProgramModel:
    """The model in what a file left behind.

    Raises:
        CommandError: no loss, several, or an unknown name.
    """
    state.enable_static()
    return _model(left, request)


def _model(left: Loaded, request: Request) -> ProgramModel:
    returned, programs, feed = _taken_apart(left)
    named = loader.variables_of(left.namespace)
    known = [*programs, left.main, *(v for v in left.namespace.values() if isinstance(v, Program))]
    known += [v.block.program for v in (*returned, *named.values())]
    known = list(dict.fromkeys(known))
    appended = left.calls.meant_in_programs()
    if appended is not None and appended.loss.block.program not in known:
        known.append(appended.loss.block.program)
    if request.loss is not None:
        loss: Variable | None = _asked(request.loss, named, known)
    elif appended is not None and not (left.function is not None and returned):
        loss = appended.loss
    elif left.function is not None and returned:
        loss = _chosen({_python_name(v, named): v for v in returned}, left, request)
    elif programs:
        loss = _chosen(_of_program(programs[0]), left, request)
    else:
        loss = _chosen(named, left, request, known)
    program = loss.block.program if loss is not None else _largest(known)
    feed_from = f"{left.function}()"
    if feed is None and isinstance(left.namespace.get("feed"), Mapping):
        feed, feed_from = dict(left.namespace["feed"]), f"feed in {left.name}"
    if feed is None:
        runs = [given for where, given in left.fed if where is program and given]
        if runs:
            where = "this notebook" if left.live else left.name
            feed, feed_from = dict(runs[-1]), f"the last Executor.run in {where}"
    stripped = strip_backward(program, [loss] if loss is not None else [])
    calls = [c for c in left.calls.appended if c.loss is loss]
    startups = [left.startup, *(p for p in known if p is not program)]
    named = {**_paths(left.namespace), **named}
    return ProgramModel(
        left.name,
        program,
        startups,
        loss,
        named,
        feed,
        feed_from,
        stripped,
        left.namespace,
        calls,
        request.words(),
        request.seed,
        left.live,
        request,
    )


def _paths(namespace: Mapping[str, Any]) -> dict[str, Variable]:
    """The parameters of the layers that the file holds, by their Python paths."""
    found: dict[Variable, str] = {}
    for name, layer in namespace.items():
        if isinstance(layer, Layer):
            for path, p in layer.named_parameters():
                if isinstance(p, Variable):
                    found.setdefault(p, f"{name}.{path}")
    return {path: p for p, path in found.items()}


def _taken_apart(left: Loaded) -> tuple[list[Variable], list[Program], dict[str, Any] | None]:
    """Variables, programs and feed among what the function returned."""
    result = left.result
    entries = list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]
    variables = [e for e in entries if isinstance(e, Variable)]
    programs = [e for e in entries if isinstance(e, Program)]
    feeds = [e for e in entries if isinstance(e, Mapping)]
    others = [e for e in entries if e is not None and not isinstance(e, (Variable, Program, Mapping, Layer))]
    if others or (entries and not variables and not programs):
        got = type((others or entries)[0]).__name__
        raise CommandError(
            f"{left.function}() in {left.name} returned {got}: expected a loss, (loss, feed) or a Program",
            "return the tensor itself, not its name or its value",
        )
    return variables, programs, dict(feeds[0]) if feeds else None


def _python_name(v: Variable, named: Mapping[str, Variable]) -> str:
    return next((n for n, other in named.items() if other is v), v.name)


def _asked(name: str, named: Mapping[str, Variable], programs: Iterable[Program]) -> Variable:
    if name in named:
        return named[name]
    tensors = {n: v for p in programs for n, v in p.global_block().vars.items()}
    if name in tensors:
        return tensors[name]
    likely = [n for n, v in {**named, **tensors}.items() if v.op is not None and v.spec.count == 1]
    raise unknown("loss", name, [*likely, *(n for n in (*named, *tensors) if n not in likely)])


def _computed(v: Variable) -> bool:
    """Whether the forward part computes *v*, which has one element of a type that gradients have."""
    return v.op is not None and roles.is_forward(v.op.role) and v.spec.count == 1 and v.dtype.is_floating


def _distinct(named: Mapping[str, Variable]) -> dict[str, Variable]:
    """One name for each variable: the first, or a usual one."""
    found: dict[Variable, str] = {}
    for name, v in named.items():
        if v not in found or (name in _USUAL and found[v] not in _USUAL):
            found[v] = name
    return {name: v for v, name in found.items()}


def _of_program(program: Program) -> dict[str, Variable]:
    return {n: v for n, v in program.global_block().vars.items() if not v.persistable}


def _chosen(
    named: Mapping[str, Variable], left: Loaded, request: Request, programs: Iterable[Program] = ()
) -> Variable | None:
    """The loss among *named*, or in *programs* when none of those can be one."""
    candidates = {n: v for n, v in named.items() if _computed(v)}
    if not candidates:
        likely = [named[n] for n in _USUAL if n in named] or (list(named.values()) if left.function else [])
        if likely and likely[0].op is not None:
            return likely[0]  # not a scalar: the engine says what is wrong with it, and where it was made
        found = [_of_program(p) for p in programs]
        candidates = {n: v for names in found for n, v in names.items() if _computed(v)}
    candidates = _distinct(candidates)
    marked = {n: v for n, v in candidates.items() if v.op is not None and v.op.role & roles.LOSS}
    if len(marked) == 1:
        return next(iter(marked.values()))
    for name in _USUAL:
        if name in candidates:
            return candidates[name]
    last = _unread(candidates)
    if len(last) == 1:
        return next(iter(last.values()))
    if not request.need_loss:
        return None
    if last:
        texts = [n if n == v.name else f"{n} ({v.name})" for n, v in last.items()]
        raise CommandError(
            f"{left.name} has several candidates for the loss: {', '.join(texts)}", "choose: --loss NAME"
        )
    raise _no_loss(left, request)


def _unread(candidates: Mapping[str, Variable]) -> dict[str, Variable]:
    """The candidates that no forward operator goes on from."""
    programs = dict.fromkeys(v.block.program for v in candidates.values())
    read = {v for p in programs for op in p.global_block().ops if roles.is_forward(op.role) for v in each(op.inputs)}
    return {n: v for n, v in candidates.items() if v not in read}


def _no_loss(left: Loaded, request: Request) -> CommandError:
    import types

    functions = [
        n
        for n, v in left.namespace.items()
        if isinstance(v, types.FunctionType) and v.__module__ in (loader.MODULE, "__main__")
    ]
    if left.function is None and functions:
        hint = f"name the function that returns it: {request.model}:{functions[0]}"
    elif shaped := [n for n, v in loader.variables_of(left.namespace).items() if v.op is not None]:
        hint = f"for a tensor of any shape there is: gradtool gradients {request.model} --target {shaped[-1]}"
    else:
        hint = "a loss has one element and is computed by an operator; --loss NAME names it"
    return CommandError(f"{left.name} defines no loss", hint)


def _largest(programs: Iterable[Program]) -> Program:
    """The program to show when there is no loss: the one that holds data or parameters, else the first."""
    known = list(programs)
    for program in known:
        if any(v.is_data or v.is_parameter for v in program.global_block().vars.values()):
            return program
    return known[0]
