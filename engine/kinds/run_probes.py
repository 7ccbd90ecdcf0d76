"""Computations of a file outside layers, and static programs, as functions of their data: runs that are
computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..answers.flow import hazards, predictions, scores
from ..answers.flow.change_propagation import upstream
from ..answers.flow.fact import Fact, FactKind
from ..answers.flow.predictions import NO_LABEL, Predicted, downstream, find_predictions
from ..answers.flow.probe import Probe, ProbeInput
from ..answers.flow.rerun import RunProbe, evaluate
from ..answers.flow.swapped_axes import find_swapped_axes
from ..answers.training.saturation import find_saturated
from ..core import source
from ..core.errors import UnsupportedError
from ..core.identity import identity
from ..core.notes import SILENT
from ..core.vocabulary import title
from ..ir import roles
from ..ir.program import Program
from ..ir.strip import forward_part
from ..ir.variable import Variable
from ..runs.branch import Branch
from ..runs.calls import Changed, flat
from ..runs.recorder import Recorder
from ..runs.repeating import find_stop, find_unrepeated
from ..runs.timeline import NOBODY, Timeline
from .layer_calls import LayerCalls
from .model import Model

NO_PREDICTION = "no prediction was found, going back from its loss: nothing with a row for each sample"
NO_DATA = "no data was found that its parameters meet"


def probe_without_layers(
    run: Timeline, recorder: Recorder, calls: LayerCalls, asked: Iterable[Any], model: Model
) -> Probe | str | None:
    """Return the probe that leads to the predictions of a file, where no layer that was asked gives them.

    None where calls of layers are all that leads there; a text says why nothing can be asked.

    Args:
        run: the last pass.
        asked: the layers whose calls were asked.
    """
    learned = _parameter_numbers(run, recorder, model)
    found = find_predictions(run, learned)
    moving = downstream(run, learned)
    known = set(map(identity, asked))
    given = {n: read for n, (layer, read) in calls.gave.items() if layer in known}
    alone = {n for n, read in given.items() if moving.isdisjoint(read)}
    if not found.outputs or not (found.labelled or _reads_itself(run, calls, moving)):
        return NO_PREDICTION if _reads_itself(run, calls, moving) else None
    if all(_only_moved(run, n, alone) for n in found.outputs):
        return None
    leading = upstream(run, found.outputs)
    again = [e for e in run.entries[: run.begin] if e.kernel is not None and not leading.isdisjoint(e.made)]
    unrepeated = find_unrepeated(run, again) or find_stop(run, {*found.inputs, *learned}, found.outputs)
    if unrepeated is not None:
        return str(unrepeated)
    inside, kept = _values_between(run, given), _values_kept(run, recorder)
    return _probe(evaluate(run), found, learned, model, modeless=True, inside=inside, kept=kept)


def _values_kept(run: Timeline, recorder: Recorder) -> list[Any]:
    """Return the values that operators read which are no part of the run, as running statistics are made."""
    made, store = {n for entry in run.entries for n in entry.made}, recorder.store
    others = (call for call in recorder.calls_before_pass if made.isdisjoint(flat(call.outs)))
    numbers = {n for call in others for n in flat(call.operands)}
    return [store.get(n) for n in sorted(numbers) if n in store]


def _values_between(run: Timeline, given: Mapping[int, Iterable[int]]) -> set[int]:
    """The values that are computed on the way from what each of the *given* was computed of."""
    inside: set[int] = set()
    for number, read in given.items():
        ends, todo = set(read), [number]
        while todo:
            n = todo.pop()
            if n in inside or n in ends:
                continue
            inside.add(n)
            maker = run.values[n].maker
            if maker != NOBODY:
                todo += run.entries[maker].inputs
    return inside


def _reads_itself(run: Timeline, calls: LayerCalls, moving: set[int]) -> bool:
    """Return whether the file computes with parameters without a layer, or with what several calls of layers gave."""
    given = set(calls.gave) & moving
    if not given:
        return True
    inside = upstream(run, given)
    return any(
        n not in inside
        for e in run.entries
        if not e.backward and not e.layer
        for n in e.inputs
        if run.values[n].role == "parameter"
    )


def _only_moved(run: Timeline, number: int, alone: set[int]) -> bool:
    """Return whether a value is what a layer gave, in another shape at most."""
    while number not in alone:
        maker = run.values[number].maker
        if maker == NOBODY or run.entries[maker].type not in _MOVING:
            return False
        number = run.entries[maker].inputs[0]
    return True


_MOVING = frozenset(("reshape2", "squeeze2", "unsqueeze2", "cast", "scale", "flatten_contiguous_range"))


def _parameter_numbers(run: Timeline, recorder: Recorder, model: Model) -> set[int]:
    """The numbers of parameters, frozen ones and running statistics among them."""
    tensors = [*model.parameters(), *getattr(model, "statistics", ())]
    read = find_learned(run) | {n for t in tensors if (n := recorder.find_number(t.array)) is not None}
    return read | _find_learned_inside(run, read, model) | set(_find_weight_masks(run, read))


def _find_weight_masks(run: Timeline, learned: Collection[int]) -> Iterator[int]:
    """Yield the values without a name that nothing but parameters of their shape are multiplied by: pruned weights."""
    readers: dict[int, list[Any]] = {}
    for entry in run.entries:
        for n in () if entry.backward else entry.inputs:
            readers.setdefault(n, []).append(entry)
    for number, entries in readers.items():
        given = run.values[number].maker == NOBODY and number not in learned
        if given and all(_scales_parameter(run, entry, number, learned) for entry in entries):
            yield number


def _scales_parameter(run: Timeline, entry: Any, number: int, learned: Collection[int]) -> bool:
    """Return whether an operator multiplies a parameter by a value of its shape."""
    rest = [n for n in entry.inputs if n != number]
    if entry.type not in _SCALING or len(rest) != 1 or rest[0] not in learned:
        return False
    shape, other = (np.shape(run.store.get(n)) for n in (number, rest[0]))
    return len(shape) > 1 and shape == other


_SCALING = frozenset(("elementwise_mul", "elementwise_div"))


def _find_learned_inside(run: Timeline, read: Collection[int], model: Model) -> set[int]:
    """Return the values without a name that are parameters which only a function of the user's own reads.

    What such a function computes stands in the run, and its operands are constants there.
    """
    unread = Counter(tuple(t.shape) for t in model.parameters())
    unread.subtract(np.shape(run.store.get(n)) for n in read)
    unread[()] = 0  # what is not stored has that shape, too
    nameless = [n for n, v in enumerate(run.values) if v.maker == NOBODY and v.name.startswith("constant.")]
    return {n for n in nameless if unread[np.shape(run.store.get(n))] > 0}


def find_learned(run: Timeline) -> set[int]:
    """Return the numbers of the leaves of a run, of buffers, and of running statistics that it reads."""
    numbers = {n for n, v in enumerate(run.values) if v.role in ("parameter", "buffer")}
    numbers.update(n for entry in run.entries for slot, n in entry.reads if slot in _STATE)
    return numbers


_STATE = frozenset({"Mean", "Variance", "running_mean", "running_var"})
"""Slots of running statistics, Paddle's and PyTorch's."""


def probe_pass(run: Timeline, recorder: Recorder, model: Model) -> Iterator[Fact]:
    """Yield the facts that the last pass shows by itself, see :func:`find_facts`."""
    if model.computes_while_loading:
        learned = _parameter_numbers(run, recorder, model)
    else:
        learned = {n for n, v in enumerate(run.values) if v.role == "parameter"}
    yield from find_facts(run, learned)


def find_facts(run: Timeline, learned: Collection[int]) -> Iterator[Fact]:
    """Yield the facts that a recorded pass shows by itself.

    Predictions that all meet all targets, probabilities where scores belong, distributions along different axes,
    operators that can come to a singular point, reshapes that stand for a transpose, and units that are flat.

    Args:
        learned: the numbers of the parameters.
    """
    yield from predictions.find_pairs(run, learned)
    yield from scores.find_squashed(run, learned)
    yield from scores.find_crossed_axes(run, learned)
    yield from hazards.hazards(run, learned)
    yield from find_swapped_axes(run, learned)
    for units in find_saturated(run, learned, _MOST_FLAT):
        yield Fact(
            FactKind.FLAT,
            units.name,
            f"{units.share:.1%} of the units of {units.name} are flat, so hardly anything before it learns",
            units.loc,
            said=(f"it reads numbers up to {units.largest:.4g}",),
            advice="scale what this layer reads, begin with smaller weights, or put a norm before it",
        )


def describe_change(change: Changed) -> Fact:
    """Return the fact that a value was written between the operator that kept it and backward, which read it."""
    name = title(change.type)
    at = source.short(change.where)
    written = {
        None: f"written at {at}, and the framework does not count such writes" if at else "no write was counted",
        "": f"an array outside shares its memory: {at}" if at else "an array outside shares its memory",
    }
    others = [f"{title(t)} at {source.short(loc)} keeps it, too" for t, loc in change.others]
    by = written.get(change.how) or f"{change.how}() at {at} shares its memory with an array"
    return Fact(
        FactKind.CHANGED,
        name,
        f"{name} keeps {change.kept} for backward, and {change.count} of {change.total} elements had changed when "
        "backward read them",
        change.loc,
        said=(by, *others, "the gradients are not those of the loss that was computed"),
        advice="write a copy (clone(), numpy().copy()), or write after backward()",
        step=change.step,
    )


_MOST_FLAT = 0.95
"""From this share of flat units on a layer is told."""


def unread(model: Any) -> Iterator[Fact]:
    """The data of a program that no operator reads."""
    read = {v for block in model.program.blocks for op in block.ops for v in op.input_variables()}
    for v in model.program.global_block().vars.values():
        if v.is_data and v not in read:
            message = f"{v.name} has no influence on the output of {model.name}: no operator reads it"
            yield Fact(FactKind.WITHOUT, v.name, message, v.loc, advice="use it, or take it out of the program")


def probe_program(model: Any, feed: str | None) -> Probe | str:
    """A program in evaluation mode; a text says why it is not asked.

    Raises:
        CommandError: no such feed.
        GradtoolError: the engine refused.
    """
    from ..runs import of_program as lowering
    from .program import feeds

    if model.loss is not None:
        _expect_no_gradients(model.program, model.loss)
    program = model.program.clone(for_test=True)
    variables = {v.name: v for v in program.list_vars()}
    loss = variables.get(model.loss.name) if model.loss is not None else None
    if loss is None:
        return NO_PREDICTION
    executor, given = feeds.ready(model, feed, SILENT)
    given = {name: array for name, array in given.items() if name in variables}
    with executor.hold(program, feed=given, fetch_list=[loss]) as (plan, registers):
        run = lowering.record(program, plan, registers, {}, title=model.name, loss=loss)
    if run.failed is not None:
        raise run.failed[1]
    learned = {n for n, v in enumerate(run.values) if v.maker == NOBODY and v.role != "data" and v.name in variables}
    found = find_predictions(run, learned)
    # What a program computes of its data is part of it.
    fed = {n for n in upstream(run, found.outputs) if run.values[n].role == "data"}
    found.inputs = sorted(n for n in fed if n in run.store and np.asarray(run.store.get(n)).size > 1)
    return _probe(run, found, learned, model, modeless=False)


def _expect_no_gradients(program: Program, loss: Variable) -> None:
    """Raise :class:`UnsupportedError` for a loss that is computed from gradients: the program for test has none."""
    ops = forward_part(program.global_block().ops, [loss])
    inner = next((op for op in ops if roles.is_backward(op.role) and not op.saves), None)
    if inner is not None:
        raise UnsupportedError(
            f"the loss is computed from gradients ({source.short(inner.loc)}), and in evaluation mode a program "
            "computes none"
        )


def _probe(
    run: Timeline,
    found: Predicted,
    learned: set[int],
    model: Model,
    *,
    modeless: bool,
    inside: Collection[int] = (),
    kept: Sequence[Any] = (),
) -> Probe | str:
    if not found.outputs:
        return NO_PREDICTION
    if not found.inputs:
        return NO_DATA
    branch = Branch(run)
    names = _distinct(_name(run, n) for n in found.inputs)
    arrays = [np.asarray(branch.make(n)) for n in found.inputs]
    inputs = [ProbeInput(name, array, _is_written(name, array)) for name, array in zip(names, arrays, strict=True)]
    results = [*found.outputs, *([run.loss] if run.loss is not None and run.loss not in found.outputs else [])]
    maker = run.values[found.outputs[0]].maker
    return RunProbe(
        model.name,
        inputs,
        run,
        found.inputs,
        results,
        learned,
        loc=run.entries[maker].loc if maker != NOBODY else (),
        modeless=modeless,
        inside=inside,
        kept=kept,
        loss_inside="" if found.labelled else NO_LABEL,
    )


def _is_written(name: str, array: Any) -> bool:
    return name.startswith("constant.") and (
        array.dtype.kind in "biu" or bool(array.size and np.all(array == array.flat[0]))
    )


def _name(run: Timeline, number: int) -> str:
    """The name of a value; of one that has none the name of what it was computed from."""
    value = run.values[number]
    while value.maker != NOBODY and value.name == run.entries[value.maker].name and run.entries[value.maker].inputs:
        value = run.values[run.entries[value.maker].inputs[0]]
    return value.name


def _distinct(names: Iterable[str]) -> list[str]:
    """Names, those that came before with a number: two values may be computed from one that has a name."""
    distinct: list[str] = []
    for name in names:
        also = sum(d == name or d.startswith(f"{name} (") for d in distinct)
        distinct.append(f"{name} ({also + 1})" if also else name)
    return distinct
