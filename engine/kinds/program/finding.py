"""Finding the loss, the program and the feed in what a model file left behind (product, section 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from gradtool.paddle.nn import Layer

from ...core import state
from ...core.command_errors import CommandError, NoLoss, SeveralLosses, unknown
from ...ir import roles
from ...ir.operator import each
from ...ir.program import Program
from ...ir.strip import strip_backward
from ...ir.variable import DENSE, Parameter, Variable
from ...request.request import Request
from ...script.attributes import is_a
from ...script.calls import PassCall
from ...script.effects import explain_missing_loss
from ...script.script_state import MODULE, USUAL_LOSSES, Loaded, variables_of
from . import feeds
from .model import ProgramModel

"""Python names that say which of several candidates is the loss."""


def find(left: Loaded, request: Request) -> ProgramModel:
    """The model in what a file left behind.

    Raises:
        CommandError: no loss, several, or an unknown name.
    """
    state.enable_static()
    return _model(left, request)


def _model(left: Loaded, request: Request) -> ProgramModel:
    returned, programs, feed = _split_result(left)
    named = variables_of(left.namespace)
    every = _programs(left, programs, [*returned, *named.values()])
    appended = left.calls.target_program_pass()
    if appended is not None and appended.loss.block.program not in every:
        every.append(appended.loss.block.program)
    is_returned = left.function is not None and returned
    loss: Variable | None
    if left.loss is not None:
        loss = left.loss
    elif request.objective.loss is not None:
        loss = _loss_by_name(request.objective.loss, named, every)
    elif appended is not None and not is_returned:
        loss = appended.loss
    elif is_returned:
        loss = _choose({_python_name(v, named): v for v in returned}, left, request)
    elif programs:
        loss = _choose(_program_variables(programs[0]), left, request)
    else:
        loss = _choose(named, left, request, every)
    program = loss.block.program if loss is not None else _largest(every)
    feed_from = f"{left.function}()"
    if request.inputs.arrays is not None:
        given = {name: array for name, array in request.inputs.arrays.items() if name not in left.taken}
        feed, feed_from = feeds.name_arrays(given, program), "the arrays that are given"
    if feed is None:
        feed, feed_from = _feed(left, program, feed_from)
    return ProgramModel(
        left.name,
        program,
        [*dict.fromkeys([left.startup, *(p for p in every if p is not program), *program.startups])],
        loss,
        {**_paths(left, program, appended), **named},
        feed,
        feed_from,
        strip_backward(program, [loss] if loss is not None else []),
        left.namespace,
        [*(c for c in left.calls.appended if c.loss is loss and c is not appended), *_calls_of_loss(appended, loss)],
        request.words(),
        request.run.seed,
        left.live,
        request,
        [c for c in left.calls.appended if c.loss is not None and c.loss is not loss],
        left.outputs,
    )


def _calls_of_loss(call: PassCall | None, loss: Variable | None) -> list[PassCall]:
    """The call that is asked about, if it is one of this loss."""
    return [call] if call is not None and call.loss is loss else []


def _programs(left: Loaded, returned: Iterable[Program], variables: Iterable[Variable]) -> list[Program]:
    """Every program that is there, each once, in the order in which a loss is looked for."""
    own = [v for v in left.namespace.values() if is_a(v, Program)]
    return list(dict.fromkeys([*returned, left.main, *own, *(v.block.program for v in variables)]))


def _feed(left: Loaded, program: Program, otherwise: str) -> tuple[dict[str, Any] | None, str]:
    """Return the feed of a model that returned none, and its origin: from its global name, else from its runs."""
    feed = left.namespace.get("feed")
    if is_a(feed, Mapping):
        return dict(feed), f"feed in {left.name}"
    runs = [fed for where, fed in left.calls.fed if where is program and fed]
    if not runs:
        return None, otherwise
    return dict(runs[-1]), f"the last Executor.run in {'this notebook' if left.live else left.name}"


def _paths(left: Loaded, program: Program, meant: PassCall | None) -> dict[str, Variable]:
    """The parameters of a program by what leads to them: Python names and paths, and paths inside their model.

    Where a path inside a model says nothing or means several, the parameter is called after the whole way to it.
    """
    parameters = [p for p in program.all_parameters() if isinstance(p, Parameter)]
    inside = Counter(p.layer_path for p in parameters)
    if not any(inside):
        return {}  # no layers: programs call parameters by the names of their tensors
    from ...script.births import free, path_of
    from ...script.holders import ways

    held = {v.name: path for _, path, v in ways(left, left.namespace, meant) if isinstance(v, Parameter)}
    paths: dict[str, Variable] = {}
    for p in parameters:
        path, short = held.get(p.name), p.layer_path
        if path is not None:
            paths.setdefault(path, p)
        if short is None:
            continue
        paths.setdefault(short, p)
        if "." not in short or inside[short] > 1:
            p.layer_path = free(path or path_of(p.made_at, short) or short, () if path else paths)
            paths.setdefault(p.layer_path, p)
    return paths


def _split_result(left: Loaded) -> tuple[list[Variable], list[Program], dict[str, Any] | None]:
    """Variables, programs and feed among what the function returned."""
    result = left.result
    parts = result if is_a(result, (tuple, list)) else [result]
    entries = [e for e in parts if e is not None]
    variables, programs = _select_kind(entries, Variable), _select_kind(entries, Program)
    others = [e for e in entries if not is_a(e, (Variable, Program, Mapping, Layer))]
    if not variables and not programs:
        others += parts if result is not None else []
    if others:
        raise CommandError(
            f"{left.function}() in {left.name} returned {type(others[0]).__name__}: "
            "expected a loss, (loss, feed) or a Program",
            "return the tensor itself, not its name or its value",
        )
    return variables, programs, next(map(dict, _select_kind(entries, Mapping)), None)


def _select_kind(entries: Iterable[Any], kind: type) -> list[Any]:
    return [e for e in entries if is_a(e, kind)]


def _python_name(v: Variable, named: Mapping[str, Variable]) -> str:
    return next((n for n, other in named.items() if other is v), v.name)


def _loss_by_name(name: str, named: Mapping[str, Variable], programs: Iterable[Program]) -> Variable:
    if name in named:
        return named[name]
    tensors = {n: v for p in programs for n, v in p.global_block().vars.items()}
    if name in tensors:
        return tensors[name]
    likely = [n for n, v in {**named, **tensors}.items() if v.op is not None and v.spec.count == 1]
    raise unknown("loss", name, [*likely, *(n for n in (*named, *tensors) if n not in likely)])


def _is_computed(v: Variable) -> bool:
    """Return whether the forward part computes *v*, which has one element of a type that gradients have."""
    return v.op is not None and roles.is_forward(v.op.role) and v.spec.count == 1 and v.dtype.is_floating


def _distinct(named: Mapping[str, Variable]) -> dict[str, Variable]:
    """One name for each variable: the first, or a usual one."""
    name_of: dict[Variable, str] = {}
    for name, v in named.items():
        if v not in name_of or (name in USUAL_LOSSES and name_of[v] not in USUAL_LOSSES):
            name_of[v] = name
    return {name: v for v, name in name_of.items()}


def _program_variables(program: Program) -> dict[str, Variable]:
    # What runs of blocks leave behind is no tensor.
    return {n: v for n, v in program.global_block().vars.items() if not v.persistable and v.kind == DENSE}


def _choose(
    named: Mapping[str, Variable], left: Loaded, request: Request, programs: Iterable[Program] = ()
) -> Variable | None:
    """The loss among *named*, or in *programs* when none of those can be one."""
    candidates = _scalars(named.items())
    if not candidates:
        likely = _likely(named, left)
        if likely is not None:
            return likely
        candidates = _scalars(chain.from_iterable(_program_variables(p).items() for p in programs))
    candidates = _distinct(candidates)
    loss = _loss_of_backward_part(candidates)
    if loss is None:
        loss = next(_usual(candidates), None)
    if loss is not None:
        return loss
    last = _unread(candidates)
    if len(last) == 1:
        return next(iter(last.values()))
    if not request.objective.need_loss:
        return None
    if last:
        texts = [n if n == v.name else f"{n} ({v.name})" for n, v in last.items()]
        raise SeveralLosses(
            f"{left.name} has several candidates for the loss: {', '.join(texts)}", "choose: --loss NAME"
        )
    raise _no_loss(left, request)


def _scalars(named: Iterable[tuple[str, Variable]]) -> dict[str, Variable]:
    return {n: v for n, v in named if _is_computed(v)}


def _usual(named: Mapping[str, Variable]) -> Iterator[Variable]:
    """Those with a name that says so."""
    return (named[n] for n in USUAL_LOSSES if n in named)


def _likely(named: Mapping[str, Variable], left: Loaded) -> Variable | None:
    """Return the variable that is meant to be the loss, and is no scalar: the engine says what is wrong with
    it, and where it was made.
    """
    likely = [*_usual(named)]
    if not likely and left.function:
        likely = list(named.values())
    return likely[0] if likely and likely[0].op is not None else None


def _loss_of_backward_part(candidates: Mapping[str, Variable]) -> Variable | None:
    """The one that a backward part starts at, if there is just one."""
    marked = [v for v in candidates.values() if v.op is not None and v.op.role & roles.LOSS]
    return marked[0] if len(marked) == 1 else None


def _unread(candidates: Mapping[str, Variable]) -> dict[str, Variable]:
    """The candidates that no forward operator goes on from."""
    programs = dict.fromkeys(v.block.program for v in candidates.values())
    read = {v for p in programs for op in p.global_block().ops if roles.is_forward(op.role) for v in each(op.inputs)}
    return {n: v for n, v in candidates.items() if v not in read}


def _no_loss(left: Loaded, request: Request) -> CommandError:
    import types

    functions = [
        n for n, v in left.namespace.items() if is_a(v, types.FunctionType) and v.__module__ in (MODULE, "__main__")
    ]
    if left.function is None and functions:
        hint = f"name the function that returns it: {request.model}:{functions[0]}"
    elif shaped := [n for n, v in variables_of(left.namespace).items() if v.op is not None]:
        hint = f"for a tensor of any shape there is: gradtool gradients {request.model} --target {shaped[-1]}"
    else:
        hint = "a loss has one element and is computed by an operator; --loss NAME names it"
    return NoLoss(f"{left.name} defines no loss", explain_missing_loss() or hint)


def _largest(programs: Iterable[Program]) -> Program:
    """The program to show when there is no loss: the one that holds data or parameters, else the first."""
    known = list(programs)
    for program in known:
        if any(v.is_data or v.is_parameter for v in program.global_block().vars.values()):
            return program
    return known[0]
