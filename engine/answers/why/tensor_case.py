"""The case of a program of dynamic mode: its last loss, its leaves, and what became of their gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ...core.identity import identity
from ...core.source import NOWHERE, Location
from ...core.vocabulary import say, title
from ...eager.journal import Journal
from ...eager.journal_entries import Call, Unrecorded, iterate_by_type
from ...eager.pass_start import Start
from ...eager.recorded_calls import nodes_behind
from ...eager.tape import loss_scale
from ...eager.tensor import Keep, Tensor
from . import constant_gradients, plain_values
from .advice import advice
from .answers import CUT, Answer, judge
from .carried_state import keeper
from .case import Case, Factor, TensorSubject
from .deep_copies import name_copy
from .dropped_results import DroppedResult, find_dropped
from .failures import ANEW
from .gradient_fates import GradientFates
from .journal_intent import JournalEvidence
from .levels import measure
from .listings import judge_awaited
from .lost_uses import LostUse, LostUses
from .of_journal import NamedTensor, explain_tensors
from .reasons import Cut, Reason
from .size_answers import SCALING
from .slopes import Slopes, Use
from .statistics import LABEL as STATISTICS
from .statistics import find_in_journal
from .tape_pass import sweep_tape
from .terms import LostTerm, Terms
from .verdicts import Aspect, Verdict


class TensorCase(Case[int, Call]):
    """The record of a program of dynamic mode.

    Args:
        journal: kept while it ran.
        loss: the last loss.
        names: the tensors that have names.
        constants: tensors through which no gradient flows.
        chosen: what is asked about; by default the parameters, and the other leaves that are to take gradients.
        start: the roots of the pass with the gradients that were given; the loss with ones if None.
    """

    def __init__(
        self,
        journal: Journal,
        loss: Tensor,
        loss_name: str,
        names: Sequence[NamedTensor],
        constants: Sequence[Tensor] = (),
        chosen: Sequence[Tensor] | None = None,
        start: Start | None = None,
    ) -> None:
        self.journal = journal
        self.loss = loss
        self.start = Start.of(loss) if start is None else start
        self.loss_name = loss_name
        self.names = {k.tensor: k for k in names}
        self.constants = constants
        self.reasons = self._reasons = explain_tensors(journal, self.start.differentiated, names, constants)
        leaves = [k.tensor for k in names if k.tensor.node is None and not k.dropped]
        self.statistics = find_in_journal(journal)
        held = {t for t in leaves if getattr(t, "is_parameter", False)}
        parameters = [t for t in leaves if t in held and not self._is_kept(t)]
        self.lost = LostUses(self._reasons, self._is_of_this_step)
        self._since: dict[int, int] = {}
        plain = [t for t in leaves if t not in held and (not t.stop_gradient or self._was_a_weight(t))]
        self.usual = [*parameters, *plain]
        self.held = self.usual if chosen is None else list(chosen)
        self._loss_value = journal.number(loss)
        self._keep = [journal.number(t) for t in chosen or ()]
        self._slopes: Slopes[int, Call] | None = None
        self._evidence = evidence = JournalEvidence(self._reasons, self._loss_value)
        reached = self._find_reached_parameters
        self._fates = GradientFates(journal, self._reasons, evidence, self.names, reached, self.loss_line)

    def find_lost_terms(self) -> list[LostTerm]:
        reasons, copies = self._reasons, self._reasons.copies
        terms = Terms(reasons, self._find_trained(), copies.get)
        lost = terms.find_lost()
        sums = {call.loc for call in terms.sums}
        since = self._last_update()
        for way in reasons.numbers():
            if way.value <= since or way.entered not in sums:
                continue
            if plain_values.is_added(way.left.loc, way.left.how, way.entered):
                term = terms.find_number(way.value, way.left.loc)
                lost += [term] if term is not None else []
        slopes = self.slopes()
        lost += [] if slopes is None else terms.find_zero_terms(slopes)
        return list(dict.fromkeys(lost))

    def find_lost_uses(self) -> list[LostUse]:
        reasons = self._reasons
        uses = {use.location: use for use in super().find_lost_uses()}
        since = self._last_update()
        for into, copy in reasons.copies.items():
            # What leaves may itself get no gradient any more, since all that it was for is the copy.
            value = self._find_reached(copy.value) if into in reasons.depends and into > since else None
            if value is not None and copy.location and not self._is_meant(into):
                use = LostUse(reasons.flow.name(value), Verdict.DETACHED, copy.location)
                uses.setdefault(copy.location, use)
        for use in self._find_zero_uses():
            uses.setdefault(use.location, use)
        return list(uses.values())

    def _is_meant(self, copy: int) -> bool:
        """Return whether values that came back as plain ones are meant to, as targets are."""
        return self._recognition.is_meant(Cut(Verdict.DETACHED, copy, None))

    def _find_reached(self, value: int) -> int | None:
        """Return the nearest value that gradients come to among those that *value* was computed from, itself one."""
        reached, maker = self._reasons.reached, self._reasons.flow.maker
        todo, seen = [value], {value}
        for v in todo:
            if v in reached:
                return v
            call = maker.get(v)
            before = [] if call is None else [r for r in call.reads if r is not None and r not in seen]
            todo += before if len(seen) < _FAR else []
            seen.update(before)
        return None

    def _find_zero_uses(self) -> Iterator[LostUse]:
        """Yield the uses that are multiplied by a number that is 0, though gradients arrive there."""
        slopes, flow = self.slopes(), self._reasons.flow
        for value, uses in {}.items() if slopes is None else slopes.uses.items():
            for use in uses:
                if use.type == "scale" and use.killer is not None and use.killer.verdict is Verdict.TIMES_ZERO:
                    yield LostUse(flow.name(value), Verdict.TIMES_ZERO, flow.call_line(use.call))

    def find_dropped(self) -> list[DroppedResult]:
        return list(find_dropped(self._reasons))

    def _last_update(self) -> int:
        """Return when the last update before the pass was."""
        made = self._reasons.flow.maker.get(self._loss_value)
        if made is None:
            return 0
        events = self.journal.events.values()
        return max((e.time for of in events for e in of if e.kind == "step" and e.time < made.time), default=0)

    def _find_trained(self) -> dict[int, str]:
        """Return the parameters that this pass gives gradients to and that the next update takes, with their names."""
        reached = self._find_reached_parameters()
        steps = self._next_steps(reached)
        if not steps:
            return reached
        first = min(steps.values())
        updated = {n for n, time in steps.items() if time == first}
        held = [x.leaves for x in self.journal.listings if not updated.isdisjoint(x.leaves)]
        return {n: name for n, name in reached.items() if any(n in leaves for leaves in held)}

    def _find_reached_parameters(self) -> dict[int, str]:
        """Return the parameters that gradients come to, by number, with their names."""
        numbers = {self.journal.number(t): t for t in self.usual if getattr(t, "is_parameter", False)}
        return {n: self.names[t].shown for n, t in numbers.items() if n in self._reasons.reached and t in self.names}

    def _next_steps(self, numbers: Iterable[int]) -> dict[int, int]:
        """Return the times of the first updates after the pass, by number of a parameter that has one."""
        made = self._reasons.flow.maker.get(self._loss_value)
        after = 0 if made is None else made.time
        times = {n: [e.time for e in self.journal.events_of(n, "step") if e.time > after] for n in numbers}
        return {n: min(of) for n, of in times.items() if of}

    def loss_scale(self) -> float:
        return self._loss_scale

    @cached_property
    def _loss_scale(self) -> float:
        return loss_scale(nodes_behind(self.start.differentiated))

    def subjects(self) -> list[TensorSubject[int]]:
        own = [self.subject(t) for t in self.held]
        known = {s.value for s in own}
        return own + [s for t in self.names if (s := self.subject(t)).value not in known and self._is_read_in_vain(t)]

    def _is_read_in_vain(self, t: Tensor) -> bool:
        """Return whether the script reads the gradient of a result that a pass has gone through, and finds none."""
        reads = self.journal.events_of(self.journal.number(t), "unfilled") if t.node is not None else []
        added = (e.time for of in self.journal.events.values() for e in of if e.kind == "added")
        return bool(reads) and reads[-1].time > min(added, default=reads[-1].time)

    def parameters(self) -> list[TensorSubject[int]]:
        return [self.subject(t) for t in self.usual]

    def _was_a_weight(self, t: Tensor) -> bool:
        """Return whether an update written out made *t*, under ``no_grad``, out of a leaf that got gradients before.

        ``w = w - rate * w.grad`` gives the name to a tensor that stops gradients.
        """
        reasons = self._reasons
        maker = reasons.flow.maker.get(self.journal.number(t))
        if maker is None or maker.unrecorded is not Unrecorded.NO_GRAD or maker.writes[0] not in reasons.depends:
            return False
        before = maker.reads[0] if maker.type == "elementwise_sub" else None
        return before is not None and before not in reasons.reached and bool(self.journal.events_of(before, "added"))

    def _is_kept(self, t: Tensor) -> bool:
        """Return whether an operator keeps it for itself, as batch norm keeps its running mean."""
        return t.stop_gradient and self.journal.number(t) in self.statistics

    def subject(self, t: Tensor) -> TensorSubject[int]:
        """*t* as something that is asked about."""
        named = self.names.get(t)
        parameter = bool(getattr(t, "is_parameter", False))
        name = named.shown if named is not None else t.name
        return TensorSubject(name, t.name, self.journal.number(t), t.spec.shape, t.dtype.name, parameter, t)

    def reason(self, subject: TensorSubject[int]) -> Reason[int, Call]:
        reason = self._reasons.explain_tensor(subject.held)
        if reason.verdict is Verdict.FROZEN and self.loss.stop_gradient:
            return replace(reason, verdict=Verdict.STOP_GRADIENT)  # nobody freezes everything on purpose
        return reason

    def target_name(self) -> str:
        return self.loss_name

    def is_differentiated(self, value: int) -> bool:
        return value in self.journal.differentiated

    def loss_line(self) -> Location:
        maker = self._reasons.flow.maker.get(self.journal.number(self.loss))
        return maker.loc if maker is not None else NOWHERE

    def call_names(self, calls: Iterable[Call]) -> dict[int, str]:
        return {identity(c): f"{c.type}.{self._counts.get(c.time, 0)}" for c in calls}

    @cached_property
    def _counts(self) -> dict[int, int]:
        """By the time of a call, how many of its type come before it."""
        reached, depends = self.reasons.reached, self.reasons.depends
        counts: dict[str, int] = {}
        by_time: dict[int, int] = {}
        ordered = iterate_by_type(
            self.journal.calls, lambda c: c[6] is not None and not reached.isdisjoint(c[2]), depends
        )
        for call in ordered:
            name = title(call[0])
            by_time[call[9]] = counts[name] = counts.get(name, -1) + 1
        return by_time

    # -- values ---------------------------------------------------------------------------------------------------

    def slopes(self) -> Slopes[int, Call] | None:
        if self.loss.stop_gradient:
            return None
        if self._slopes is None:
            self._slopes = sweep_tape(self.journal, self.start, self.constants, self._keep)
        return self._slopes

    def culprit_is_trained(self, use: Use[int, Call], position: int) -> bool:
        value = use.call.reads[position]
        leaf = None if value is None else self._leaves.get(value)
        if leaf is None or value is None or self._slopes is None or leaf.stop_gradient:
            return False
        return not self._slopes.is_dead(value)

    def zero_factor(self, use: Use[int, Call], value: int | None) -> Factor[int] | None:
        candidates = [value] if value is not None else self._scales(use)
        for candidate in map(self._skip_views, candidates):
            leaf = self._leaves.get(candidate)
            if leaf is None or not getattr(leaf, "is_parameter", False):
                continue
            stays = not np.any(leaf.array)
            if value is None and not stays:
                continue
            trains = self._slopes is not None and not leaf.stop_gradient and not self._slopes.is_dead(candidate)
            sets = self.journal.events_of(candidate, "initialised", "written")
            set_at = sets[-1].loc if sets else self._reasons.flow.made_at(candidate)
            return Factor(self.names[leaf].shown, candidate, set_at, trains, stays)
        return None

    def straight_piece(self, use: Use[int, Call], value: int | None) -> tuple[str, Location] | None:
        if use.type in _PIECES:
            return self._piece_of(use.call)
        maker, todo, seen = self._reasons.flow.maker, [] if value is None else [value], set[int]()
        while todo and len(seen) < _FAR:
            v = todo.pop()
            call = maker.get(v)
            if call is None or v in seen:
                continue
            seen.add(v)
            if call.type.endswith("zeros_like"):
                return self._piece_before(call)
            todo += [r for r in call.reads if r is not None]
        return None

    def _piece_before(self, zeros: Call) -> tuple[str, Location] | None:
        """Return what a recorded pass had differentiated once when another one, differentiating that, made *zeros*."""
        earlier = [c for c in self.journal.calls if c.time < zeros.time]
        if not any(c.type.endswith("ones_like") and c.loc[:1] == zeros.loc[:1] for c in earlier):
            return None  # no recorded pass made it
        call = next((c for c in reversed(earlier) if c.type in _PIECES and c.key is not None), None)
        return None if call is None else self._piece_of(call)

    def _piece_of(self, call: Call) -> tuple[str, Location]:
        """Return the function that *call* is the first derivative of, and where it was called."""
        forward = self._reasons.flow.maker.get(call.reads[1]) if call.reads[1] is not None else None
        return _PIECES[call.type], (call if forward is None else forward).loc

    def _scales(self, use: Use[int, Call]) -> list[int]:
        """Return what a norm that tells nothing of its operands reads beside the value that it normalises."""
        reads = use.call.reads if use.type in SCALING and use.position == 0 else ()
        return [v for v in reads[1:2] if v is not None]

    def _skip_views(self, value: int) -> int:
        """Return the value whose elements *value* shows in another shape or type."""
        maker = self._reasons.flow.maker
        while value in maker and maker[value].type in _VIEWS and maker[value].reads[0] is not None:
            before = maker[value].reads[0]
            assert before is not None
            value = before
        return value

    @cached_property
    def _leaves(self) -> dict[int, Tensor]:
        """The named leaves by number."""
        return {self.journal.number(t): t for t in self.names if t.node is None}

    def norm_of(self, subject: TensorSubject[int]) -> float | None:
        return measure(subject.held.array).norm

    def cause_of(self, subject: TensorSubject[int], answer: Answer) -> Location:
        if answer.verdict is not Verdict.NO_GRAD or not self._was_a_weight(subject.held):
            return answer.location
        maker = self._reasons.flow.maker[subject.value]  # an update written out: those of one block belong together
        guard = self.journal.guards.get(maker.time)
        return (NOWHERE if guard is None else guard.loc) or answer.location

    def loss_is_zero(self) -> bool:
        return self.start.is_plain and not np.any(self.loss.array)

    # -- beside the graph -----------------------------------------------------------------------------------------

    def also(self, subject: TensorSubject[int], answer: Answer) -> Answer:
        if answer.verdict is Verdict.FROZEN and self._is_kept(subject.held):
            return replace(answer, label=STATISTICS)
        beside = self._evidence.judge_intent(subject, self._judge(subject, answer))
        beside = judge_awaited(self._reasons.flow, subject, beside)
        if not self.journal.forgotten or beside.has_gradient:
            return beside
        said = (
            f"the first {self.journal.forgotten} operators of the program were forgotten, so this may not be the cause"
        )
        return replace(beside, said=(*beside.said, said))

    def _judge(self, subject: TensorSubject[int], answer: Answer) -> Answer:
        looks = (
            self._allow_exclusion,
            self._no_leaf,
            # A penalty can be the cause of a detached value as well as of one that gets a gradient.
            self._constant,
            self._round,
            self._explain_assignment,
            self._name_copy,
            self._explain_no_grad,
            # From here on there is a gradient, be it zero.
            self._pass_missing,
            self._not_retained,
            # From here on it is a leaf: an optimizer may hold it, and calls may clear it.
            self._fates.judge_list,
            self._fates.find_clearing,
            self._fates.find_accumulation,
            self._note_lost_uses,
            self._as_number,
        )
        return judge(looks, subject, answer)

    def _allow_exclusion(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a tensor that whoever asks wants to get no gradient."""
        return replace(answer, finding=False) if answer.verdict is Verdict.NO_GRAD_SET else None

    def _name_copy(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a leaf of which a copy stands in the loss."""
        apart = answer.verdict.is_apart and subject.held.node is None
        return name_copy(self._reasons, subject, answer) if apart else None

    def _pass_missing(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a tensor without a gradient: what follows is about what became of it."""
        return None if answer.has_gradient or answer.verdict.is_zero else answer

    def _note_lost_uses(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        noted = self.lost.note(answer, subject.value) if answer.verdict is Verdict.OK else answer
        return None if noted is answer else noted

    def _explain_no_grad(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a tensor that was made anew under ``no_grad``, or of which something keeps what was computed there."""
        if answer.verdict is not Verdict.NO_GRAD:
            return None
        if self._was_a_weight(subject.held):
            said = say("{name} has {stops}: the update made a new tensor under no_grad", name=subject.name)
            advice = say("{taking} after the update, or update it in place", name=subject.name)
            return replace(answer, said=(said,), advice=advice)
        cut = self._reasons.explain(subject.value).cut
        by = "" if cut is None else keeper(self.journal, cut.value)
        if not by:
            return None
        said = f"{by} keeps what was computed there under no_grad, and the loss is computed from that"
        return replace(answer, said=(said,), advice=ANEW.format(by=by))

    @cached_property
    def _penalties(self) -> dict[int, Call]:
        """By number the values that a gradient was taken of which stands in the loss as a constant."""
        parameters = {self.journal.number(t) for t in self.names if getattr(t, "is_parameter", False)}
        return constant_gradients.find_calls_behind(
            self._reasons, constant_gradients.find_misused(self._reasons, parameters)
        )

    def _constant(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a tensor that a penalty on a gradient should train."""
        call = self._penalties.get(subject.value)
        if call is None or not answer.verdict.has(Aspect.BY_CONSTANT):
            return None
        said = "{gradient_of} returns plain numbers there: what the loss computes from them trains nothing"
        return answer.rejudge(
            Verdict.CONSTANT,
            say(said),
            location=call.loc,
            advice=advice(Verdict.CONSTANT),
        )

    def _as_number(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a tensor of which one use goes into the loss as a Python number."""
        if answer.verdict is not Verdict.OK:
            return None
        number = self._reasons.as_number(subject.value)
        maker = self._reasons.flow.maker.get(self._loss_value)
        if number is None or maker is None or not self._start(subject.value) < number.time < maker.time:
            return None
        said = f"what is computed from it goes into {self.loss_name} as a Python number, too: .{number.how}()"
        label = f"one use {Verdict.DETACHED.text}"
        return replace(answer, label=label, location=number.loc, said=(*answer.said, said))

    def _round(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Say where values left for NumPy or for a number, and where they came back."""
        if answer.verdict is not Verdict.DETACHED:
            return None
        number = self._reasons.as_number(subject.value) if self._reasons.explain(subject.value).cut is None else None
        if number is not None:
            said = (f"what is computed from it goes into {self.loss_name} as a Python number: .{number.how}()",)
            return replace(answer, said=said, path=())
        back = self._reasons.round_trip(subject.value) if self._reasons.explain(subject.value).cut is None else None
        if back is None:
            return answer
        said = (
            f"its values left the graph by {back.left.how}() and come back as plain values, which hold no gradient",
        )
        places = (("left", back.left.loc), ("back", back.entered))
        name = self.reasons.flow.name(subject.value)
        path = (self.loss_name, "…", CUT, f".{back.left.how}()", "…", name)
        return replace(answer, said=said, path=path, places=places)

    def _explain_assignment(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """A result that nobody used: where it was made after backward, a leaf of that name was replaced."""
        if not answer.verdict.is_apart or subject.held.node is None:
            return None
        maker = self._reasons.flow.maker.get(subject.value)
        added = [e.time for events in self.journal.events.values() for e in events if e.kind == "added"]
        if maker is None or not added or maker.time < max(added):
            return answer
        return replace(
            answer,
            verdict=Verdict.NOT_RETAINED,
            label=Verdict.NOT_RETAINED.text,
            location=maker.loc,
            said=(f"it is no leaf: {maker.type} made it after backward, and {subject.name} names that result now",),
            advice=say("change it in place: {name}.{assign} under no_grad(), or use an optimizer", name=subject.name),
        )

    def _no_leaf(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Return the answer about a result whose ``.grad`` the script reads as if it were a leaf."""
        t: Tensor = subject.held
        if not self._is_read_in_vain(t) or not (answer.has_gradient or answer.verdict.is_zero):
            return None
        maker = self._reasons.flow.maker.get(self.journal.number(t))
        made = "an operator" if maker is None else maker.type
        return answer.rejudge(
            Verdict.NOT_RETAINED,
            f"it is no leaf but a result of {made}, and backward fills .grad of leaves alone",
            gradient=None,
            location=NOWHERE if maker is None else maker.loc,
            cut_at=NOWHERE,
            path=(),
            places=(("read", self.journal.events_of(self.journal.number(t), "unfilled")[-1].loc),),
            advice=say("call {retain} on it before backward, or make a leaf of it: .detach().requires_grad_()"),
        )

    def _not_retained(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Return the answer about a result that gets a gradient."""
        t: Tensor = subject.held
        if t.node is None:
            return None
        if answer.verdict.is_zero:
            return answer
        hooks = (t.node.hooks or {}).get(t.index, {})
        if any(isinstance(h, Keep) for h in hooks.values()):
            return answer
        return replace(
            answer,
            verdict=Verdict.NOT_RETAINED,
            label=Verdict.NOT_RETAINED.text,
            finding=True,
            said=("a gradient flows through it, and .grad does not keep it: it is a result, not a leaf", *answer.said),
            advice=advice(Verdict.NOT_RETAINED),
        )

    def _is_of_this_step(self, value: int, call: Call) -> bool:
        """Return whether *call* came after the last gradient that an earlier pass gave to *value*."""
        return call.time > self._start(value)

    def _start(self, value: int) -> int:
        """Return when an earlier pass gave *value* its last gradient."""
        since = self._since.get(value)
        if since is None:
            maker = self._reasons.flow.maker.get(self._loss_value)
            until = maker.time if maker is not None else self._loss_value
            since = max((e.time for e in self.journal.events_of(value, "added") if e.time < until), default=0)
            self._since[value] = since
        return since


_VIEWS = frozenset(
    {"transpose2", "reshape2", "unsqueeze2", "squeeze2", "expand_v2", "cast", "t", "view", "expand", "assign"}
)
"""Operators that show the elements of their operand in another shape or type."""

_PIECES = {
    "threshold_backward": "relu",
    "leaky_relu_backward": "leaky_relu",
    "hardtanh_backward": "hardtanh",
    "hardsigmoid_backward": "hardsigmoid",
    "hardshrink_backward": "hardshrink",
    "softshrink_backward": "softshrink",
}
"""By the operator that a recorded pass of PyTorch calls, the function of straight pieces that it differentiates."""

_FAR = 1000
"""Values that are looked at on the way back from a zero."""
