"""Subjects of a gradient check: a loss of dynamic mode, a static program, a function; see ``gradcheck.py``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autodiff.backward import append_backward
from ..autodiff.gradients import gradients
from ..core import state, watch
from ..core.errors import ArgumentTypeError, DtypeError, GradtoolError
from ..core.source import Location
from ..core.summary import Staying
from ..eager.pass_start import Start
from ..eager.passes import Pass
from ..eager.recorded_calls import leaves_behind, nodes_behind
from ..eager.tensor import Leaf, Tensor
from ..executor.scope import global_scope
from ..ir.program import Block, Program
from ..ir.variable import Variable
from ..kernels.backend import Backend
from ..kernels.choice import current, reference
from ..runs import of_steps, of_tape
from ..runs.places import TapeValues
from ..runs.recorder import Recorder
from ..runs.repeating import CANNOT, find_unrepeated
from ..runs.timeline import Timeline
from ..view.graph import FORWARD
from . import backend_replay, gradcheck, kinks, magnitudes, own_rules
from .arithmetic import ArrayArithmetic
from .double_precision import Double
from .double_precision_compiled import CompiledDouble
from .events import part_of
from .gradcheck import Array, Claim, LeafCheck
from .tape_pass import expect_recorded

FAITHFUL = 2e-3
"""How far the replayed loss may be from the recorded one, relatively; ten times that with numbers of 16 bits."""


class WrittenModel:
    """The loss of a written-down run, computed again in double precision.

    Args:
        device: the backend that holds the values of the run; None where they are NumPy's.
    """

    def __init__(self, timeline: Timeline, leaves: Sequence[Any], weight: Array, device: Backend | None = None) -> None:
        self.timeline = timeline
        self.again = Double(timeline, leaves) if device is None else CompiledDouble(timeline, leaves, device)
        self.arithmetic = ArrayArithmetic(device or reference())
        self.weight = weight

    @property
    def operators(self) -> int:
        return len(self.again.code)

    def value(self, at: Mapping[Hashable, Array]) -> tuple[float, list[Any]]:
        loss, choices = self.again(at)
        return self.arithmetic.product(self.weight, loss), choices

    def chooser(self, number: int) -> tuple[str, Location]:
        entry = self.timeline.entries[number]
        return entry.type, entry.loc

    def find_undecided(self, key: Hashable) -> tuple[str, Location] | None:
        entry = self.again.find_undecided(key)
        return None if entry is None else (entry.type, entry.loc)


class SummedModel:
    """The sum of several losses of one run."""

    def __init__(self, models: Sequence[WrittenModel]) -> None:
        self.models = models
        self.arithmetic = models[0].arithmetic

    @property
    def operators(self) -> int:
        return sum(model.operators for model in self.models)

    def value(self, at: Mapping[Hashable, Array]) -> tuple[float, list[Any]]:
        total, choices = 0.0, []
        for i, model in enumerate(self.models):
            value, chosen = model.value(at)
            total += value
            choices += [(len(self.models) * number + i, choice) for number, choice in chosen]
        return total, choices

    def chooser(self, number: int) -> tuple[str, Location]:
        number, i = divmod(number, len(self.models))
        return self.models[i].chooser(number)

    def find_undecided(self, key: Hashable) -> tuple[str, Location] | None:
        found = (model.find_undecided(key) for model in self.models)
        return next((place for place in found if place is not None), None)


class WrittenLoss(NamedTuple):
    """A loss of a written-down run.

    Attributes:
        weight: by what its elements are weighed.
        recorded: its value.
    """

    timeline: Timeline
    weight: Array
    recorded: Any


class FunctionModel:
    """A function of tensors, called again.

    Args:
        dtype: what its inputs are cast to.
    """

    def __init__(self, function: Callable[..., Any], inputs: Sequence[Any], dtypes: Sequence[Any]) -> None:
        self.function = function
        self.inputs = list(inputs)
        self.dtypes = dtypes
        self.arithmetic = ArrayArithmetic(reference())
        self.weights: list[Array] = []
        self.operators = 0
        self._choosers: list[tuple[str, Location]] = []

    def tensors(self, at: Mapping[Hashable, Array], leaves: bool) -> list[Any]:
        """The arguments, those that need gradients as leaves if asked for."""
        arguments: list[Any] = []
        for i, (x, kind) in enumerate(zip(self.inputs, self.dtypes, strict=True)):
            if kind is None:
                arguments.append(x)
                continue
            values = at.get(i, x.array)
            arguments.append(Tensor(np.array(values, kind), stop_gradient=not (leaves and not x.stop_gradient)))
        return arguments

    def call(self, arguments: Sequence[Any]) -> list[Tensor]:
        """The floating-point results; random numbers are the same in each call."""
        before, state.random = state.random, state.RandomState(0)
        try:
            returned = self.function(*arguments)
        finally:
            state.random = before
        results = [
            v for v in (returned if isinstance(returned, (list, tuple)) else [returned]) if isinstance(v, Tensor)
        ]
        results = [t for t in results if t.dtype.is_floating]
        if not results:
            raise ArgumentTypeError(f"gradcheck: the function returned no Tensor, but {type(returned).__name__}.")
        return results

    def value(self, at: Mapping[Hashable, Array]) -> tuple[float, list[Any]]:
        choices: list[Any] = []
        choosers: list[tuple[str, Location]] = []
        self.operators = 0

        def note(event: Any) -> None:
            if isinstance(event, watch.Computed):
                self.operators += 1
                choice = kinks.choice(np, event.op.type, event.attrs, event.inputs, event.outputs)
                if choice is not None:
                    choices.append((len(choices), choice))
                    choosers.append((event.op.type, event.loc))

        with watch.watch(note):
            results = self.call(self.tensors(at, leaves=False))
        self._choosers = choosers
        total = sum(np.vdot(w, r.array.astype(np.float64)) for w, r in zip(self.weights, results, strict=True))
        return float(total), choices

    def chooser(self, number: int) -> tuple[str, Location]:
        return self._choosers[number]

    def find_undecided(self, key: Hashable) -> tuple[str, Location] | None:
        return None  # it chooses in the precision that its gradients are computed in


def check_function(function: Callable[..., Any], inputs: Sequence[Any], order: int, seed: int) -> list[LeafCheck]:
    """Check the gradients of a function by those of *inputs* that do not stop them."""
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and not x.stop_gradient]
    if not wanted:
        raise ArgumentTypeError("gradcheck: no input with stop_gradient=False.", hint="that is what is checked")
    own = [_type_if_floating(x) for x in inputs]
    model = FunctionModel(function, inputs, [d and np.dtype(np.float64) for d in own])
    arguments, results, precise = _call_wide(model, own)
    rng = np.random.default_rng(seed)
    model.weights = [rng.uniform(0.5, 1.5, r.array.shape) * rng.choice([-1, 1], r.array.shape) for r in results]
    leaves = [arguments[i].leaf for i in wanted]
    first, seconds, along, arriving, written = differentiate(results, model.weights, leaves, order, rng)
    subjects = []
    for i, leaf in zip(wanted, leaves, strict=True):
        x = inputs[i]
        subject = Claim(
            i,
            _name_input(x, i),
            np.array(arguments[i].array, np.float64),
            first.get(leaf),
            arguments[i].array.dtype,
            seconds.get(leaf),
            along.get(leaf),
            arriving,
            written,
        )
        subjects.append(subject)
    return gradcheck.check(model, subjects, seed, precise)


def _name_input(x: Tensor, position: int) -> str:
    return x.name if x._name is not None else f"input {position}"


def _type_if_floating(x: Any) -> np.dtype[Any] | None:
    """Return the type of a floating tensor; None for any other argument."""
    return x.array.dtype if isinstance(x, Tensor) and x.dtype.is_floating else None


def _call_wide(model: FunctionModel, own: Sequence[Any]) -> tuple[list[Any], list[Tensor], bool]:
    """Call the function in double precision, or in the types of its inputs where it takes no other.

    Returns:
        The arguments, the results, and whether the results are in double precision.
    """
    try:
        arguments = model.tensors({}, leaves=True)
        results = model.call(arguments)
        return arguments, results, all(r.array.dtype == np.float64 for r in results)
    except DtypeError:
        # An operator takes no double precision: the differences are then as coarse as the type of the inputs.
        model.dtypes = own
        arguments = model.tensors({}, leaves=True)
        return arguments, model.call(arguments), False


def differentiate(
    results: Sequence[Tensor],
    weights: Sequence[Array],
    leaves: Sequence[Leaf],
    order: int,
    rng: np.random.Generator,
    settled: Callable[[dict[Leaf, Any]], dict[Leaf, Any]] = dict,
) -> tuple[dict[Leaf, Array], dict[Leaf, Array], dict[Leaf, Array], list[Array], list[tuple[str, Location]]]:
    """Gradients, products with the Hessian, the directions of these, and what users wrote rules for.

    Of such rules: what arrived there, and the type and line of their operators.

    Args:
        settled: from gradients of a pass, those to be checked; see :class:`.backend_replay.Telling`.
    """
    arriving: list[Array] = []
    written: list[tuple[str, Location]] = []

    def note(event: Any) -> None:
        if isinstance(event, watch.Pulled) and own_rules.is_own(event.node):
            written.append((event.node.op.type, event.node.loc))
            arriving.extend(magnitudes.plain(_array(g)).astype(np.float64) for g in event.arriving if g is not None)

    work = Pass(retain_graph=True, create_graph=order > 1, fill=False)
    for r, w in zip(results, weights, strict=True):
        if not r.stop_gradient:
            work.seed(r, Tensor(np.asarray(w, r.array.dtype)))
    with watch.watch(note):
        work.run()
    totals = {leaf: work.total(leaf) for leaf in leaves if leaf in work.leaves}
    first = {leaf: np.asarray(_array(g)) for leaf, g in settled(totals).items()}
    if order == 1:
        return first, {}, {}, arriving, written
    along = {leaf: rng.normal(size=leaf.spec.shape) for leaf in leaves}
    products = settled(_multiply_by_hessian(totals, along))
    seconds = {
        leaf: np.asarray(_array(products[leaf])) if leaf in products else np.zeros(leaf.spec.shape) for leaf in leaves
    }
    return first, seconds, along, arriving, written


def _multiply_by_hessian(totals: Mapping[Leaf, Any], along: Mapping[Leaf, Array]) -> dict[Leaf, Any]:
    """Return the products of the Hessian with the directions *along*, of the leaves that have one.

    Args:
        totals: gradients of a pass that was recorded.
    """
    again = Pass(retain_graph=True, fill=False)
    for leaf, direction in along.items():
        g = totals.get(leaf)
        if isinstance(g, Tensor) and not g.stop_gradient:
            again.seed(g, Tensor(np.asarray(direction, g.array.dtype)))
    again.run()
    products = {leaf: again.total(leaf) for leaf in along}
    return {leaf: product for leaf, product in products.items() if product is not None}


def check_loss(
    loss: Tensor | Start, recorder: Recorder, names: Mapping[Tensor | Leaf, str], order: int = 1, seed: int = 0
) -> list[LeafCheck]:
    """Check the gradients of a recorded loss by its leaves, or those of a pass that starts from several tensors.

    Args:
        recorder: wrote down the run that computed it.
        names: the leaves to check, or their tensors, and what they are called.
    """
    start = Start.of(loss)
    expect_recorded(start.loss, start.loss.name)
    roots = start.differentiated
    nodes = nodes_behind(roots)
    rng = np.random.default_rng(seed)
    weights = _weigh_roots(start, nodes, rng)
    tensors = [t for t in names if isinstance(t, Tensor)]
    named = {_leaf_of(t): name for t, name in names.items()}
    runs = [of_tape.forward(recorder, root, tensors) for root in roots]
    leaves = _find_leaves(start, roots, nodes, named)
    read = _find_values(runs)
    with backend_replay.hear(None) as telling:
        first, seconds, along, arriving, written = differentiate(roots, weights, leaves, order, rng, telling.settle)
    device = _find_device()
    behind, meant = _find_behind_own_rules(runs, nodes, TapeValues(recorder, nodes, roots))

    def claim(leaf: Leaf) -> Claim:
        passed_own = leaf in behind
        return Claim(
            leaf,
            named[leaf],
            _double(read[leaf]),
            first.get(leaf),
            leaf.spec.dtype.numpy,
            seconds.get(leaf),
            along.get(leaf),
            arriving if passed_own else (),
            written if passed_own else (),
            leaf in meant,
        )

    subjects = [claim(leaf) for leaf in leaves if leaf in read]
    rest = [_skip(named[leaf], leaf.spec, _UNREAD) for leaf in leaves if leaf not in read]
    written_down = [WrittenLoss(*parts) for parts in zip(runs, weights, [t.array for t in roots], strict=True)]
    return [*_check_again(written_down, subjects, seed, device), *rest]


def _find_leaves(start: Start, roots: Sequence[Tensor], nodes: Sequence[Any], named: Iterable[Leaf]) -> list[Leaf]:
    """Return the leaves among *named* that a gradient can be checked of: floating, behind the roots, and asked for."""
    behind = set(leaves_behind(roots, nodes))
    if start.inputs is not None:
        behind &= start.inputs
    return [leaf for leaf in named if leaf in behind and leaf.spec.dtype.is_floating]


def _find_device() -> Backend | None:
    """Return the backend that compiles what is noted for it; None where nothing is."""
    backend = current()
    return backend if backend.compiles and backend_replay.noting_now() is not None else None


def _leaf_of(t: Tensor | Leaf) -> Leaf:
    return t.leaf if isinstance(t, Tensor) else t


def _find_values(runs: Sequence[Timeline]) -> dict[Leaf, Any]:
    """Return the last value of each leaf that an operator read, in the first run that read it."""
    return {leaf: run.store.get(numbers[-1]) for run in reversed(runs) for leaf, numbers in run.leaves.items()}


def _find_behind_own_rules(
    runs: Sequence[Timeline], nodes: Sequence[Any], places: TapeValues
) -> tuple[Collection[Leaf], set[Leaf]]:
    """Return the leaves whose gradients pass rules of the user's, and those of them where that is no mistake."""
    own = [n for n in nodes if own_rules.is_own(n)]
    meant = {leaf for run in runs for leaf in own_rules.leaves_of(own_rules.find_meant(run, places, own))}
    return own_rules.leaves_of(own), meant


def _weigh_roots(start: Start, nodes: Sequence[Any], rng: np.random.Generator) -> list[Array]:
    is_told = any(hasattr(node, "told") for node in nodes)
    return [_weight(root, given, is_told, rng) for root, given in start.pairs()]


def _weight(root: Tensor, given: Any, is_told: bool, rng: np.random.Generator) -> Array:
    """By what a root is weighed: the gradient that was given there; else something else for each element.

    Args:
        is_told: the gradients of another framework's operators are those of the pass that it ran, and no others.
    """
    if given is not None:
        return np.asarray(given, np.float64)
    as_is = is_told and root.array.size == 1
    return np.ones(root.array.shape) if as_is else rng.uniform(0.5, 1.5, root.array.shape)


def check_program(
    loss: Variable, run: Callable[[Sequence[Variable]], Any], order: int = 1, seed: int = 0
) -> list[LeafCheck]:
    """Check the gradients of a static program's loss by its parameters.

    Args:
        run: runs the program for variables to fetch, and returns their values, which may stay on a device. What is
            compared is computed there then.
    """
    block = loss.block.program.global_block()
    pairs = append_backward(loss)
    rng = np.random.default_rng(seed)
    along: dict[Variable, Array] = {} if order == 1 else {p: rng.normal(size=p.shape) for p, _ in pairs}
    seconds = _append_second_order(block, pairs, along) if order > 1 else {}
    rounds = of_steps.watch_steps(_FORWARD)
    fetch = [loss, *(g for _, g in pairs), *seconds.values()]
    with watch.watch(rounds):
        values = dict(zip(fetch, run(fetch), strict=True))
    device = current() if current().kept(values[loss]) else None
    wide = ArrayArithmetic(device or reference()).wide
    held = global_scope().values.raw
    timeline = of_steps.timeline(rounds.last, loss, {p: held[p.name] for p, _ in pairs})
    written = _find_written_rules(loss.block.program)

    def claim(p: Variable, g: Variable) -> Claim:
        second = values[seconds[p]] if p in seconds else None
        if order > 1 and second is None:
            second = np.zeros(p.shape)
        read = timeline.leaves.get(p)  # no operator reads the parameters of a branch that was not taken
        start = held[p.name] if read is None else timeline.store.get(read[-1])
        return Claim(p, p.name, wide(start), values[g], p.dtype.numpy, second, along.get(p), (), written)

    subjects = [claim(p, g) for p, g in pairs]
    return _check_again([WrittenLoss(timeline, np.ones(values[loss].shape), values[loss])], subjects, seed, device)


def _find_written_rules(program: Program) -> list[tuple[str, Location]]:
    """Return the type and the line of the operators whose gradient the user wrote."""
    return [(op.type, op.loc) for block in program.blocks for op in block.ops if op.type == "pylayer"]


def _append_second_order(
    block: Block, pairs: Sequence[tuple[Variable, Variable]], along: Mapping[Variable, Array]
) -> dict[Variable, Variable]:
    """Append the operators of the products with the Hessian; return them by the parameters that have one.

    Args:
        pairs: parameters with their gradients.
        along: the directions, which become values of the scope.
    """
    directions = []
    for p, direction in along.items():
        v = Variable(block, f"{p.name}@DIRECTION", p.spec, stop_gradient=True, persistable=True)
        directions.append(block.add_var(v))
        global_scope().values[v.name] = direction.astype(p.dtype.numpy)
    products = gradients([g for _, g in pairs], [p for p, _ in pairs], directions)
    return {p: h for (p, _), h in zip(pairs, products, strict=True) if h is not None}


_FORWARD = Staying(lambda op, readers: part_of(op) is FORWARD)
"""What a run has to hold to be computed again."""


def _check_again(
    runs: Sequence[WrittenLoss], subjects: Sequence[Claim], seed: int, device: Backend | None = None
) -> list[LeafCheck]:
    """The check by computing again, if that gives what was recorded and nothing was computed outside of operators."""
    models = [WrittenModel(run.timeline, [s.key for s in subjects], run.weight, device) for run in runs]
    for model, run in zip(models, runs, strict=True):
        reason, loc = _reason_against(model, run.recorded, subjects)
        if reason:
            return [_refuse(s, reason, loc) for s in subjects]
    return gradcheck.check(models[0] if len(models) == 1 else SummedModel(models), subjects, seed)


def _reason_against(model: WrittenModel, recorded: Any, subjects: Sequence[Claim]) -> tuple[str, Location]:
    """Why a run cannot be computed again, and where; empty where it can."""
    if model.again.gaps:
        return model.again.gaps[0]
    if not np.isfinite(_double(recorded)).all():
        return "the loss is not finite (gradtool nan explains it)", ()
    unrepeated = find_unrepeated(model.timeline, model.again.code)
    if unrepeated is not None:
        return str(unrepeated), unrepeated.entry.loc
    try:
        again = model.again({})[0]
    except GradtoolError as error:
        return f"{CANNOT} in double precision: {error.message.removesuffix('.')}", ()
    if not _faithful(again, _double(recorded), subjects):
        return f"{CANNOT}: computed again in double precision the loss is another", ()
    return "", ()


def _faithful(again: Array, recorded: Array, subjects: Sequence[Claim]) -> bool:
    """Return whether the loss that was computed again is the recorded one up to rounding."""
    far = FAITHFUL * (10 if any(np.dtype(s.dtype).itemsize < 4 for s in subjects) else 1)
    return np.allclose(again, recorded, rtol=far, atol=far * (1e-3 + float(np.abs(recorded).max(initial=0))))


def _refuse(s: Claim, reason: str, loc: Location) -> LeafCheck:
    return LeafCheck(s.name, s.values.shape, np.dtype(s.dtype).name, 1, gradcheck.UNCHECKED, cause=reason, loc=loc)


_UNREAD = "its value was not read by an operator"


def _skip(name: str, spec: Any, reason: str) -> LeafCheck:
    return LeafCheck(name, tuple(spec.shape), spec.dtype.name, 1, gradcheck.UNCHECKED, cause=reason)


def _double(array: Any) -> Array:
    return np.asarray(array.dense() if hasattr(array, "dense") else array).astype(np.float64)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value
