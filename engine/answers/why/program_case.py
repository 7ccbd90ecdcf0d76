"""The case of a static program: its loss, its parameters, and what the user's ``append_backward`` asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...autodiff.backward import append_backward
from ...autodiff.values import Value, variable_of
from ...core import names, watch
from ...core.identity import identity
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...executor.plan import Step
from ...ir import roles
from ...ir.operator import Operator, each, flat
from ...ir.strip import forward_part
from ...ir.variable import Variable
from ...ops.opdef import OpDef
from ...runs import of_steps
from ...runs.rounds import Round, Rounds
from .answers import Answer, judge
from .case import Case, TensorSubject
from .dropped_results import DroppedResult, find_dropped_in_program
from .intent import judge_intent
from .levels import measure
from .lost_uses import LostUses
from .of_program import explain
from .program_intent import BackwardCall, ProgramEvidence
from .program_pass import sweep_program
from .reasons import Reason
from .slopes import Slopes, Use
from .statistics import LABEL as STATISTICS
from .statistics import find_in_program
from .terms import LostTerm, Terms
from .verdicts import Verdict

Runner = Callable[[Sequence[Variable]], Sequence[Any]]
"""Runs the program and returns the values of variables."""


@dataclass(frozen=True, slots=True)
class BackwardArguments:
    """The arguments of a backward call.

    Attributes:
        listed: the names in the parameter list; None where there is none.
        no_grad: the variables and names in the no-grad set.
        at: the user's line that says so; none where whoever asks says so.
    """

    listed: Collection[str] | None = None
    no_grad: Collection[Variable | str] = ()
    at: Location = NOWHERE


def _flat_reads(op: Operator) -> list[tuple[str, Variable | None]]:
    """Slot and variable of everything that an operator reads, list slots laid flat."""
    operands: list[tuple[str, Variable | None]] = []
    for slot, value in zip(op.op.inputs, op.inputs, strict=False):
        operands += [(slot.name, v) for v in (value if isinstance(value, tuple) else (value,))]
    return operands


def _index_gradients(op: Operator, gradient: Operator) -> dict[tuple[Operator, int], Variable]:
    """Operator and position among what it reads -> the variable that *gradient* makes for it."""
    by_slot: dict[str, list[Variable | None]] = {}
    for slot, value in zip(gradient.op.outputs, gradient.outputs, strict=False):
        by_slot[slot.name] = list(value) if isinstance(value, tuple) else [value]
    by_read = {}
    counts: Counter[str] = Counter()
    for i, (slot_name, _) in enumerate(_flat_reads(op)):
        entries = by_slot.get(names.grad(slot_name), [])
        v = entries[counts[slot_name]] if counts[slot_name] < len(entries) else None
        counts[slot_name] += 1
        if v is not None:
            by_read[op, i] = v
    return by_read


def _add_inner_operators(ops: Iterable[Operator]) -> set[Operator]:
    """The operators and those in their blocks."""
    every: set[Operator] = set()
    todo = [*ops]
    while todo:
        op = todo.pop()
        every.add(op)
        todo += [inner for block in op.sub_blocks for inner in block.ops]
    return every


def _flatten_steps(run: Round[Step]) -> Iterator[Step]:
    """The operators that ran, those in blocks in place of the one that holds them; as deep as blocks are written."""
    for step in run.steps:
        for inner in run.inner.get(step.op, ()):
            yield from _flatten_steps(inner)
        if not step.op.sub_blocks:
            yield step


class ProgramCase(Case[Value, Operator]):
    """A static program.

    Args:
        loss: computed in block 0.
        asked: the parameter list and the no-grad set.
        shown: what people call a variable.
        run: gives values; None for connectivity alone. What it raises passes through.
        chosen: what is asked about; the parameters by default.
        others: the other backward calls of the file.
    """

    def __init__(
        self,
        loss: Variable,
        asked: BackwardArguments,
        shown: Callable[[Variable], str] = lambda v: v.name,
        run: Runner | None = None,
        chosen: Sequence[Variable] | None = None,
        others: Sequence[BackwardCall] = (),
    ) -> None:
        self.loss = loss
        self.asked = asked
        self.shown = shown
        self.run = run
        self._evidence = ProgramEvidence(asked.listed, others)
        self.ops = forward_part(loss.block.ops, [loss])
        self.reasons = self._reasons = explain(self.ops, [loss], asked.no_grad, asked.at)
        parameters = loss.block.program.all_parameters()
        self.statistics = find_in_program(self.ops, parameters)
        self._parameters: list[Variable] = [v for v in parameters if v not in self.statistics]
        self.held: list[Variable] = self._parameters if chosen is None else list(chosen)
        self._keep = [self._reasons.value(v) for v in chosen or ()]
        self.lost = LostUses(self._reasons)
        self._run: tuple[Round[Step], Any] | None = None
        self._slopes: Slopes[Value, Operator] | None = None

    def subjects(self) -> list[TensorSubject[Value]]:
        return [self.subject(v) for v in self.held]

    def parameters(self) -> list[TensorSubject[Value]]:
        return [self.subject(v) for v in self._parameters]

    def subject(self, v: Variable) -> TensorSubject[Value]:
        """*v* as something that is asked about."""
        value = self._reasons.value(v)
        return TensorSubject(self.shown(v), v.name, value, v.shape, v.dtype.name, v.is_parameter, v)

    def reason(self, subject: TensorSubject[Value]) -> Reason[Value, Operator]:
        return self._reasons.explain_variable(subject.held)

    def target_name(self) -> str:
        return self.shown(self.loss)

    def is_differentiated(self, value: Value) -> bool:
        variable = variable_of(value)
        gradient = variable.block.vars.get(names.grad(variable.name))
        return gradient is not None and self._reasons.flow.values.current(gradient) in self._reasons.depends

    def loss_line(self) -> Location:
        return self.loss.made_at

    def call_names(self, calls: Iterable[Operator]) -> dict[int, str]:
        return {identity(c): f"{c.type}.{self._counts[c]}" for c in calls}

    @cached_property
    def _counts(self) -> dict[Operator, int]:
        """Return how many of its type come before an operator."""
        counts: dict[OpDef, int] = {}
        by_op: dict[Operator, int] = {}
        own = self.loss.block
        for ops in (self.ops, *(b.ops for b in own.program.blocks if b is not own)):
            for op in ops:
                by_op[op] = counts[op.op] = counts.get(op.op, -1) + 1
        return by_op

    def find_lost_terms(self) -> list[LostTerm]:
        reasons = self._reasons
        values = {reasons.value(v): self.shown(v) for v in self._parameters}
        trained = {value: name for value, name in values.items() if value in reasons.reached}
        terms = Terms(reasons, trained, lambda value: None)
        lost, slopes = terms.find_lost(), self.slopes()
        return lost if slopes is None else [*lost, *terms.find_zero_terms(slopes, self.is_fed)]

    def is_fed(self, value: Value) -> bool:
        return variable_of(value).is_data

    def find_dropped(self) -> list[DroppedResult]:
        return list(find_dropped_in_program(self.loss.block.ops, self._reasons.depends, self.shown))

    # -- values ---------------------------------------------------------------------------------------------------

    @contextmanager
    def hear(self) -> Iterator[None]:
        """As in the base: the run computes the loss."""
        needed = _add_inner_operators(self.ops)  # among them gradients that the loss contains

        def strip(step: Step, inner: Sequence[Round[Step]]) -> Step:
            """*step*, without its arrays where it is one of the backward part: nobody needs these."""
            spared = roles.is_backward(step.op.role) and step.op not in needed
            return Step(step.index, step.op, (), ()) if spared else step

        rounds = Rounds(strip)
        with watch.watch(rounds):
            yield
        maker = next((s for s in reversed(rounds.last.steps) if s.op is self.loss.op), None)
        if maker is not None:
            made = dict(zip(flat(maker.op.outputs), maker.outputs, strict=False))
            self._run = rounds.last, np.asarray(made[self.loss])

    def _ran(self) -> tuple[Round[Step], Any] | None:
        """Return what one run computed, and the loss."""
        if self._run is None and self.run is not None:
            rounds = of_steps.watch_steps()
            with watch.pause_watchers(), watch.watch(rounds):
                (loss,) = self.run([self.loss])
            self._run = rounds.last, np.asarray(loss)
        return self._run

    @cached_property
    def _first_values(self) -> dict[Variable, Any]:
        """Return what persistable and fed variables held when an operator first read them."""
        ran = self._ran()
        begun: dict[Variable, Any] = {}
        written: set[Variable] = set()
        for step in () if ran is None else _flatten_steps(ran[0]):
            for v, array in zip(each(step.op.inputs), step.inputs, strict=False):
                if (v.persistable or v.is_data) and v not in written:
                    begun.setdefault(v, array)
            written.update(each(step.op.outputs))
        return begun

    def _layer_gradients(self) -> dict[Operator, list[Any]]:
        """Return the gradients of operators whose backward the user wrote, computed on a copy, by operator."""
        written = self._reasons.flow.values.written
        reached = self.reasons.reached
        holders = {
            i: op
            for i, op in enumerate(self.ops)
            if op.type == "pylayer" and any(written(op, v) in reached for v in each(op.outputs))
        }
        if not holders or self.run is None:
            return {}
        block = self.loss.block.program.clone().global_block()
        before = list(block.ops)
        append_backward(block.vars[self.loss.name], no_grad_set=list(self.asked.no_grad))
        twins = {before[i]: op for i, op in holders.items()}
        gradients: dict[tuple[Operator, int], Variable] = {}
        for op in block.ops:
            if op.origin in twins and op.op.forward is not None:
                gradients.update(_index_gradients(twins[op.origin], op))
        gradients_of: dict[Operator, list[Any]] = {op: [None] * len(_flat_reads(op)) for op in holders.values()}
        for (op, i), array in zip(gradients, self.run(list(gradients.values())), strict=True):
            gradients_of[op][i] = np.asarray(array)
        return gradients_of

    def slopes(self) -> Slopes[Value, Operator] | None:
        ran = self._ran()
        if ran is None:
            return None
        if self._slopes is None:
            run, loss = ran
            seeds = {self._reasons.flow.values.current(self.loss): np.ones(loss.shape, loss.dtype)}
            self._slopes = sweep_program(self._reasons, run, seeds, self._keep, self._layer_gradients())
        return self._slopes

    def culprit_is_trained(self, use: Use[Value, Operator], position: int) -> bool:
        flat = [v for value in use.call.inputs for v in (value if isinstance(value, tuple) else (value,))]
        v = flat[position]
        if v is None or not v.is_parameter or self._slopes is None:
            return False
        return not self._slopes.is_dead(self._reasons.value(v))

    def norm_of(self, subject: TensorSubject[Value]) -> float | None:
        array = self._first_values.get(subject.held)
        return None if array is None else measure(array).norm

    def loss_is_zero(self) -> bool:
        ran = self._ran()
        return ran is not None and not np.any(ran[1])

    # -- beside the graph -----------------------------------------------------------------------------------------

    def also(self, subject: TensorSubject[Value], answer: Answer) -> Answer:
        return judge_intent(self._evidence, subject, self._judge(subject, answer))

    def _judge(self, subject: TensorSubject[Value], answer: Answer) -> Answer:
        # The list of the call comes first: what it leaves out gets a gradient that nobody takes.
        looks = (self._not_listed, self._allow_exclusion, self._name_freeze, self._note_lost_uses)
        return judge(looks, subject, answer)

    def _not_listed(self, subject: TensorSubject[Value], answer: Answer) -> Answer | None:
        """About a parameter that the parameter list leaves out."""
        asked = self.asked
        if not (answer.has_gradient and subject.is_parameter) or asked.listed is None or subject.tensor in asked.listed:
            return None
        return answer.rejudge(
            Verdict.NOT_LISTED,
            f"it gets a gradient, but the parameter list holds {len(asked.listed)} others",
            *answer.said,
            finding=bool(asked.at),
            location=asked.at or answer.location,
            advice="add it to the parameter list",
        )

    def _allow_exclusion(self, subject: TensorSubject[Value], answer: Answer) -> Answer | None:
        """About a variable of the no-grad set: whoever asks with one wants it so, whoever wrote one may not."""
        asked = self.asked
        if answer.verdict is not Verdict.NO_GRAD_SET:
            return None
        if not asked.at:
            return replace(answer, finding=False)
        if asked.listed is None or subject.tensor not in asked.listed:
            return None
        return replace(answer, said=(*answer.said, "the parameter list of the same call holds it"))

    def _name_freeze(self, subject: TensorSubject[Value], answer: Answer) -> Answer | None:
        """About a parameter that is not trained: statistics of an operator, or frozen on a line."""
        if answer.verdict is not Verdict.FROZEN:
            return None
        place = f", set at {answer.source}" if answer.source else ""
        return replace(
            answer, label=STATISTICS if subject.held in self.statistics else f"frozen: trainable=False{place}"
        )

    def _note_lost_uses(self, subject: TensorSubject[Value], answer: Answer) -> Answer | None:
        return self.lost.note(answer, subject.value) if answer.has_gradient else None
