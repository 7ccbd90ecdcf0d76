"""Gradients of any operator with a block, of any order: the gradient runs its block like it, the other way round.

What it carries from run to run forwards, the gradient carries backwards. What all runs read, the gradient adds up over
the runs, and what they add up, all runs of the gradient read. What they read from frames gets gradients run by run: the
operator that left the frames finds them (:class:`Injection`) when the sweep comes to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..core import names
from ..core.identity import identity
from ..core.records import dataclass
from ..ir.blocks import STEP_SCOPES, BlockCarry, Region, reads, region, writes
from ..ir.operator import Operator
from ..ir.variable import Variable, gradient_variable
from ..ops import registry
from ..ops.readings import flatten, output_places
from .differentiator import Differentiator, SweptOp
from .nested_blocks import Gradients, forget, inner_differentiator, reachable
from .values import Value, variable_of


@dataclass(slots=True)
class Injection:
    """A block whose runs compute gradients of what the runs of another block have left in their frames.

    Attributes:
        scope: the frames of the block that computes them.
        gradients: ``(variable of the other block, its gradient)``.
        child: the grads of the block that computes them.
    """

    scope: Variable
    child: Differentiator
    gradients: list[tuple[Variable, Variable]]


def dual(grads: Differentiator, node: SweptOp, arriving: Gradients, mask: list[bool]) -> Gradients:
    """The gradient of an operator with a block, by the form that :func:`~gradtool.engine.ir.blocks.region` gives it.

    Four phases: what arrives in the block, the sweep over it, what leaves it, and the operator that runs all this.
    """
    whole = region(node.op)
    injected = grads.call.injections.pop(whole.scope, []) if whole.scope is not None else []
    child = _inner(grads, whole, injected)
    arrivals = _arrive(child, whole, _index_arrivals(node, arriving), injected)
    child.run()
    departures = _leave(child, whole, arrivals, _Results(grads, node, mask))
    return _emit(grads, node, child, arrivals, departures)


@dataclass(frozen=True, slots=True)
class _Arrivals:
    """Gradients that arrive in a block that is differentiated.

    Attributes:
        by_result: gradients of what the operator writes, by variable.
        summed: those of values that all runs add to, which every run reads.
        carried: what is carried to whose gradient something arrives, from behind the operator or from later runs.
        starts: for each of these, the variable in which a run of the gradient finds that gradient.
        scopes: the frames of the blocks that compute gradients of what is in the operator's own frames.
    """

    by_result: dict[Variable, Variable]
    summed: list[Variable]
    carried: list[BlockCarry]
    starts: list[Variable]
    scopes: tuple[Variable, ...]

    def find(self, result: Variable | None) -> Variable | None:
        """The gradient of something that the operator writes."""
        return self.by_result.get(result) if result is not None else None


@dataclass(frozen=True, slots=True)
class _Departures:
    """Gradients that leave a block that has been differentiated.

    Attributes:
        ends: for each carried value, the variable in which a run leaves the gradient for the next one; None where no
            run is next.
        sums: what is added up over the runs: ``(variable around, gradient inside)``.
        framed: gradients of what was read from frames, by the variable of the frames.
        results: the gradients of what the operator reads.
    """

    ends: list[Variable | None]
    sums: list[tuple[Variable, Variable]]
    framed: dict[Variable, list[tuple[Variable, Variable]]]
    results: _Results


def _inner(grads: Differentiator, whole: Region, injected: Sequence[Injection]) -> Differentiator:
    """Return the differentiator that builds the block of the gradient."""
    child = inner_differentiator(grads, whole.block)
    child.namer.outer = grads.namer
    around = [i.child.namer.is_taken for i in injected]
    child.namer.visible = [whole.block._find_var_recursive, grads.namer.is_taken, *around]
    return child


def _index_arrivals(node: SweptOp, arriving: Gradients) -> dict[Variable, Variable]:
    """The gradients that arrive, by what the operator writes; frames have none of their own."""
    outs = flatten(node.op.outputs, output_places(node.op.op))
    pairs = ((v, g) for v, g in zip(outs, arriving, strict=True) if v is not None and v.kind != STEP_SCOPES)
    return {v: g for v, g in pairs if g is not None}


def _arrive(
    child: Differentiator, whole: Region, by_result: dict[Variable, Variable], injected: Sequence[Injection]
) -> _Arrivals:
    """Let the gradients into the block: of sums, of what its frames are read for, of what is carried."""
    seeds: dict[Value, list[Variable]] = {}
    summed: list[Variable] = []
    for inside, result, _ in whole.sums:
        if result in by_result:
            seeds.setdefault(child.values.current(inside), []).append(by_result[result])
            summed.append(by_result[result])
    for injection in injected:
        for v, g in injection.gradients:
            value = child.values.current(v) if v.block is whole.block else child.values.initial(v)
            seeds.setdefault(value, []).append(g)
    carried = [c for c in whole.carried if c.end is not None and c.result in by_result]
    carried += _later_carries(child, whole, carried, set(seeds))
    starts: list[Variable] = []
    for c in carried:
        assert c.end is not None
        start = gradient_variable(child.target, "", c.end)
        child.namer.settle(start, names.grad(c.end.name))
        child.target.vars[start.name] = start
        starts.append(start)
        seeds.setdefault(child.values.current(c.end), []).append(start)
    child.parts.update(seeds)
    return _Arrivals(by_result, summed, carried, starts, tuple(i.scope for i in injected))


def _leave(child: Differentiator, whole: Region, arrivals: _Arrivals, results: _Results) -> _Departures:
    """Name what the sweep has left: what is carried on, what is added up, and what goes to the writers of frames."""
    runs_again = whole.loops or bool(whole.frames)
    ends: list[Variable | None] = []
    for c in arrivals.carried:
        if c.before is not None:
            ends.append(_end(child, c))
            results.add(c.before)
        else:  # there is nothing before the only run
            ends.append(_end(child, c) if runs_again else None)
    child.name_all()
    outside, framed = _gradients_of_reads(child, whole)
    for c in whole.carried:  # what only the first run finds, and does not pass on, is like something that it reads
        if c.end is not None or c.start is None or c.before is None:
            continue
        value = child.values.initial(c.start)
        g = child.gradient(value)
        if g is not None:
            outside.append((c.before, _own(child, value, g)))
    return _Departures(ends, [(v, g) for v, g in outside if results.add(v)], framed, results)


def _emit(
    grads: Differentiator, node: SweptOp, child: Differentiator, arrivals: _Arrivals, departures: _Departures
) -> Gradients:
    """Append the operator that runs the block; forget the block if nobody wants anything of it."""
    op, whole, results = node.op, region(node.op), departures.results
    scope = None
    if departures.framed:
        scope = Variable(grads.target, "", whole.frames[0].spec, kind=STEP_SCOPES)
        grads.namer.settle(scope, names.grad(_own_frames(grads, op, whole).name))
    if not results.wanted and scope is None:
        forget(grads, child)
        return results.flat
    carried, sums = arrivals.carried, departures.sums
    attrs = {
        "sub_block": child.target,
        "backwards": not whole.backwards,
        "starts": _names(arrivals.starts),
        "ends": _names(departures.ends),
        "likes": _names(c.start for c in carried),
        "sums": _names(g for _, g in sums),
        "sum_likes": _names(v for v, _ in sums),
    }
    grad_op = registry.get_by_type("block_grad")
    scopes = (_own_frames(grads, op, whole), *whole.frames, *arrivals.scopes)
    befores = tuple(arrivals.find(c.result) for c in carried)
    afters = tuple(results.find(c.before) for c in carried)
    inputs = (tuple(arrivals.summed), befores, scopes)
    outputs = (afters, tuple(results.find(v) for v, _ in sums), scope)
    emitted = grads.emitted.emit(grad_op, inputs, outputs, grad_op.attributes(attrs), origin=op)
    grads.emitted.inner[emitted] = child
    if scope is not None:
        for owner, gradients in departures.framed.items():
            grads.call.injections.setdefault(owner, []).append(Injection(scope, child, gradients))
            results.mark(owner, scope)
    return results.flat


def _names(variables: Iterable[Variable | None]) -> tuple[str, ...]:
    """Names for an attribute; an empty one where there is no variable."""
    return tuple("" if v is None else v.name for v in variables)


def _own_frames(grads: Differentiator, op: Operator, whole: Region) -> Variable:
    """The variable with the frames that *op* leaves; a gradient operator gets one when it is first differentiated."""
    if whole.scope is not None:
        return whole.scope
    frames = grads.call.frames
    if op in frames:
        return frames[op]
    like = whole.frames[0]
    name = f"{like.name}@FRAMES"
    number = 0
    taken = {v.name for v in frames.values()}
    while name in op.block.vars or name in taken:
        number += 1
        name = f"{like.name}@FRAMES@{number}"
    own = frames[op] = Variable(op.block, name, like.spec, kind=STEP_SCOPES)
    own.op = op
    return own


def _later_carries(
    child: Differentiator, whole: Region, carried: list[BlockCarry], seeds: set[Value]
) -> list[BlockCarry]:
    """Find further carried values to whose gradient something arrives from later runs."""
    rest = _subtract(filter(_has_gradients, whole.carried), carried)
    new: list[BlockCarry] = []
    while True:
        ends = {child.values.current(c.end) for c in (*carried, *new) if c.end is not None}
        reached = reachable(child, ends | seeds)
        more = [c for c in _subtract(rest, new) if c.start is not None and child.values.initial(c.start) in reached]
        if not more:
            return new
        new += more


def _subtract(all_: Iterable[BlockCarry], some: Iterable[BlockCarry]) -> list[BlockCarry]:
    """*all_* but for *some*; by identity, for comparing variables appends operators."""
    gone = set(map(identity, some))
    return [c for c in all_ if identity(c) not in gone]


def _has_gradients(c: BlockCarry) -> bool:
    """Return whether the value is handed from one run to the next, and numbers that gradients can have."""
    return c.start is not None and c.end is not None and c.start.dtype.is_differentiable


def _end(child: Differentiator, c: BlockCarry) -> Variable:
    """The variable with the gradient of what a run finds in ``c.start``; zeros where there is none."""
    assert c.start is not None
    value = child.values.initial(c.start)
    parts = child.parts.get(value)
    if not parts:
        fill = registry.get_by_type("fill_any_like")
        zeros = child.new_gradient(value)
        child.namer.settle_gradient(zeros, value)
        child.emitted.emit(fill, (c.start,), (zeros,), fill.attributes({"value": 0.0, "dtype": -1}))
        return zeros
    if len(parts) > 1:
        parts[:] = [child.accumulate(value, parts)]
    elif not parts[0].name:
        child.namer.settle_gradient(parts[0], value)
    return _own(child, value, parts[0])


def _own(child: Differentiator, value: Value, g: Variable) -> Variable:
    """*g*, or a copy of it in the block that *child* builds."""
    if g.block is child.target:
        return g
    copied = child.new_gradient(value)
    child.namer.settle_gradient(copied, value)
    copied.kind = g.kind
    assign = registry.get_by_type("assign")
    child.emitted.emit(assign, (g,), (copied,), assign.attributes({}))
    return copied


def _gradients_of_reads(
    child: Differentiator, whole: Region
) -> tuple[list[tuple[Variable, Variable]], dict[Variable, list[tuple[Variable, Variable]]]]:
    """Gradients of what a block reads: from outside, and by the variable of the frames that it reads from."""
    owner = _owners(whole)
    outside: list[tuple[Variable, Variable]] = []
    framed: dict[Variable, list[tuple[Variable, Variable]]] = {}
    for v in reads(whole.block):
        if whole.start_of(v):
            continue
        value = child.values.initial(v)
        g = _first(child.parts.get(value)) if v.kind == STEP_SCOPES else child.gradient(value)
        if g is None:
            continue
        scope = owner(v)
        pairs = outside if scope is None else framed.setdefault(scope, [])
        pairs.append((v, _own(child, value, g)))
    return outside, framed


def _owners(whole: Region) -> Callable[[Variable], Variable | None]:
    """A function that tells in which of the frames that *whole* reads a variable is found."""
    blocks = [(scope, region(scope.op).block) for scope in whole.frames if scope.op is not None]
    touched = [(scope, block, {*reads(block), *writes(block)}) for scope, block in blocks]

    def owner(v: Variable) -> Variable | None:
        return next((scope for scope, block, used in touched if v.block is block or v in used), None)

    return owner


def _first(parts: Sequence[Variable] | None) -> Variable | None:
    return parts[0] if parts else None


class _Results:
    """Gradients of what an operator reads, by place.

    Attributes:
        flat: in the order of its slots.
        wanted: whether there is any.
    """

    def __init__(self, grads: Differentiator, node: SweptOp, mask: list[bool]) -> None:
        self.flat: Gradients = [None] * len(mask)
        self.wanted = False
        self._grads = grads
        self._places: dict[Variable, tuple[int, Value]] = {}
        self._new: dict[Variable, Variable] = {}
        for i, (value, w) in enumerate(zip(node.wrt, mask, strict=True)):
            if w and value is not None:
                self._places.setdefault(variable_of(value), (i, value))

    def add(self, v: Variable) -> bool:
        """Make the gradient of *v*, if it is wanted."""
        if v not in self._places:
            return False
        place, value = self._places[v]
        if v not in self._new:
            self._new[v] = self.flat[place] = self._grads.new_gradient(value)
            self.wanted = True
        return True

    def find(self, v: Variable | None) -> Variable | None:
        """The gradient of *v*, if it has been made."""
        return self._new.get(v) if v is not None else None

    def mark(self, scope: Variable, frames: Variable) -> None:
        """Let the sweep visit the operator that left the frames in *scope*."""
        if scope in self._places:
            self.flat[self._places[scope][0]] = frames
