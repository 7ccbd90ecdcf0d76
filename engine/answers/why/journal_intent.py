"""Other uses of parameters in dynamic mode: other backward calls, optimizers, changes of layers."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from ...core import source
from ...core.source import Location
from ...core.vocabulary import say
from ...eager.journal_entries import Event, ListedLeaves
from ...ops import registry
from . import choices, intent
from .answers import Answer, judge
from .case import TensorSubject
from .of_journal import JournalFlow, JournalReasons
from .tape_pass import slots_of
from .verdicts import Verdict

_SETTINGS = {"stop_gradient": "{stops}", "trainable": "{frozen}"}


class JournalEvidence(intent.IntentEvidence[int]):
    """Evidence from a journal.

    Args:
        loss: the number of the loss of the backward call that is asked about.
    """

    def __init__(self, reasons: JournalReasons, loss: int) -> None:
        self._reasons = reasons
        self._flow = reasons.flow
        self._loss = loss
        self._forgotten: dict[tuple[str, int], bool] = {}
        """By model and list, whether that leaves out the vectors of the model alone."""

    def elsewhere(self, subject: TensorSubject[int]) -> Location | None:
        return _other_pass(self._flow, self._loss, subject.value)

    def is_behind_others(self, subject: TensorSubject[int]) -> bool:
        return subject.value in self._values_behind_others

    @cached_property
    def _values_behind_others(self) -> set[int | None]:
        journal = self._flow.journal
        entries = (e for events in journal.events.values() for e in events)
        losses: set[int | None] = {e.into for e in entries if e.kind == "added" and e.into != self._loss}
        return journal.ancestors_of_values(losses)

    def describe_omission(self, subject: TensorSubject[int]) -> str:
        listings = self._flow.journal.listings
        held = any(subject.value in listing.leaves for listing in listings)
        was_there = any(subject.value < listing.time for listing in listings)
        return "no optimizer holds it" if was_there and not held else ""

    def judge_intent(self, subject: TensorSubject[int], answer: Answer) -> Answer:
        """Return *answer*, as no finding if the program shows that the missing gradient is meant."""
        without_gradient = (
            self._allow_replaced_layer,
            self._allow_other_steps,
            self._allow_copy,
            self._allow_statistics,
            self._allow_later_values,
            self._mark_untrained_model,
        )
        looks = (
            self._keep_not_listed,
            # What was frozen has no gradient to look for.
            self._explain_freeze,
            self._explain_thaw,
            self._allow_taken_gradient,
            *(without_gradient if subject.is_parameter and not answer.has_gradient else ()),
            self._allow_other_optimizer,
            self._allow_evidence,
        )
        return judge(looks, subject, answer)

    def _keep_not_listed(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """Keep a finding: however many calls give it a gradient, nobody updates it."""
        return answer if answer.verdict is Verdict.NOT_LISTED else None

    def _explain_freeze(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        is_frozen = subject.is_parameter and answer.verdict is Verdict.FROZEN and not answer.gradient
        return _explain_freeze(self._flow, self._loss, subject, answer) if is_frozen else None

    def _explain_thaw(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        is_stopped = subject.is_parameter and answer.verdict is Verdict.STOP_GRADIENT
        return _explain_thaw(self._flow, self._loss, subject, answer) if is_stopped else None

    def _allow_evidence(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        return intent.judge_intent(self, subject, answer)

    def _allow_other_optimizer(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a zero that no update takes: the critic's, where the actor is trained through it."""
        # A gradient that was cleared came, and is no zero that the pass gave.
        is_zero = answer.verdict.is_zero and answer.verdict is not Verdict.CLEARED
        if not (subject.is_parameter and answer.finding and is_zero):
            return None
        other = _other_pass(self._flow, self._loss, subject.value)
        if other is None or not self._is_passed_over(subject.value):
            return None
        said = (
            f"this pass trains others: its optimizer takes what another backward call gives it: {source.short(other)}"
        )
        return replace(answer, finding=False, said=(*answer.said, said), advice="")

    def _is_passed_over(self, value: int) -> bool:
        """Return whether updates took gradients of *value* and went on without that of this pass."""
        events = self._flow.journal.events.get(value, ())
        times = [e.time for e in events if e.kind == "added" and e.into == self._loss]
        if not times or self._last_step < times[-1]:
            return False  # where nothing was updated after this pass, it may have been about to be
        later = next((e.kind for e in events if e.time > times[-1] and e.kind in ("step", "cleared")), "")
        return later != "step" and any(e.kind == "step" for e in events)

    @cached_property
    def _last_step(self) -> int:
        """Return when an optimizer updated for the last time."""
        events = self._flow.journal.events.values()
        return max((e.time for of in events for e in of if e.kind == "step"), default=0)

    def _allow_replaced_layer(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a parameter that another one stands for in its layer; what became of its values is nothing then."""
        replaced = _describe_replacement(self._flow, subject.value)
        if replaced is None or not self._is_apart(subject.value):
            return None
        return _apart(answer, self._reasons.explain(subject.value).verdict, replaced)

    def _allow_other_steps(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a parameter that not every step needs: an expert that was not chosen, a loss added now and then."""
        if not self._is_apart(subject.value) or self._leaves_in_this_step(subject.value, answer):
            return None
        times = len({e.into for e in find_additions(self._flow, subject.value)})
        if not times:
            return None
        passes = "1 other backward pass" if times == 1 else f"{times} other backward passes"
        return _apart(
            answer, self._reasons.explain(subject.value).verdict, f"{passes} gave it a gradient, this one had none"
        )

    def _allow_copy(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a parameter that is written while others are trained: an average of weights, kept for evaluation."""
        journal = self._flow.journal
        if not self._is_apart(subject.value) or not journal.listings:
            return None
        if any(subject.value in listing.leaves for listing in journal.listings):
            return None
        writes = [e for e in journal.events.get(subject.value, ()) if e.kind == "written" and e.time > self._first]
        if not writes:
            return None
        said = f"no optimizer holds it, and its values are written: {source.short(writes[-1].loc)}"
        return _apart(answer, self._reasons.explain(subject.value).verdict, said)

    def _allow_later_values(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a parameter that the backward pass was too early for: weights put together after the training."""
        if self._last_arrival is None or subject.value < self._last_arrival or not self._is_apart(subject.value):
            return None
        return _apart(answer, self._reasons.explain(subject.value).verdict, "it was made after this backward pass")

    def _mark_untrained_model(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About a parameter of a model of which no optimizer holds a part and no pass gave one a gradient."""
        held = {leaf for listing in self._flow.journal.listings for leaf in listing.leaves}
        model = self._model(subject.value)
        if not held or not model or not answer.finding or not self._is_apart(subject.value):
            return None
        if model in self._models_in_training:
            return None
        return replace(answer, untrained=True, said=(*answer.said, f"no optimizer holds a parameter of {model}"))

    @cached_property
    def _models_in_training(self) -> set[str]:
        """The outermost layers of which an optimizer holds a parameter, or a pass gave one a gradient."""
        listed = {leaf for listing in self._flow.journal.listings for leaf in listing.leaves}
        events = self._flow.journal.events
        filled = {value for value, of in events.items() if any(e.kind == "added" for e in of)}
        return {self._model(value) for value in listed | filled}

    @cached_property
    def _last_arrival(self) -> int | None:
        """Return when the backward pass that is asked about gave its last gradient; None where it gave none."""
        events = self._flow.journal.events.values()
        times = [e.time for of in events for e in of if e.kind == "added" and e.into == self._loss]
        return max(times, default=None)

    @cached_property
    def _first(self) -> int:
        """Return when the first gradient of all came."""
        events = self._flow.journal.events.values()
        return min((e.time for of in events for e in of if e.kind == "added"), default=0)

    def _is_apart(self, value: int) -> bool:
        """Return whether no operator leads from *value* to the loss; its values may have come there all the same."""
        return self._reasons.explain(value).verdict.is_apart

    def _leaves_in_this_step(self, value: int, answer: Answer) -> bool:
        """Return whether what is computed from *value* in this step goes on as plain values."""
        maker = self._flow.maker.get(self._loss)
        if answer.verdict is not Verdict.DETACHED or maker is None:
            return False
        since = max((e.time for e in find_additions(self._flow, value) if e.time < maker.time), default=0)
        return any(since < call.time < maker.time and value in call.reads for call in self._flow.calls)

    def _allow_taken_gradient(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About data whose gradient was taken as numbers: an example that is moved along it trains others."""
        cut = self._reasons.cuts.get(subject.value)
        if subject.is_parameter or answer.verdict is not Verdict.DETACHED or cut is None or cut.call is None:
            return None
        if cut.call.type != "grad" or any(subject.value in listing.leaves for listing in self._flow.journal.listings):
            return None
        said = say("{gradient_of} gave its gradient as numbers, and the loss is computed with them")
        return replace(answer, finding=False, said=(*answer.said, said), advice="")

    def _allow_statistics(self, subject: TensorSubject[int], answer: Answer) -> Answer | None:
        """About what a normalisation counts up: nobody trains it, also where a loop unfreezes all parameters."""
        cut = self._reasons.cuts.get(subject.value)
        if cut is None or cut.call is None or not cut.at_input or cut.value != subject.value:
            return None
        op = registry.find(cut.call.type)
        if op is None:
            return None
        counted = {s.name for s in op.inputs} & {s.name.removesuffix("Out") for s in op.outputs}
        slots = slots_of(op, len(cut.call.reads))
        if not any(v == subject.value and slot in counted for v, slot in zip(cut.call.reads, slots, strict=True)):
            return None
        label = f"frozen: running statistics of {op.type}"
        return replace(answer, verdict=Verdict.FROZEN, label=label, finding=False, said=(), advice="")

    def judge_list(self, subject: TensorSubject[int], answer: Answer, partly: bool) -> Answer | None:
        """Return the answer about a parameter that a list leaves out on purpose; None where nothing shows that.

        Its values were set before, or the list is chosen by the names of parameters.

        Args:
            partly: whether the list takes other parameters of the same model.
        """
        last = self.nearest_list(subject)
        written = [e for e in self._flow.journal.events.get(subject.value, ()) if e.kind == "written"]
        if subject.value > last.time:
            return None
        if written:
            said = (f"its values were set before: {source.short(written[-1].loc)}",)
        elif partly and not self.is_of_forgotten_group(subject) and choices.is_by_name(last.loc):
            said = ("the list is chosen by the names of parameters",)
        else:
            return None
        label = f"frozen: left out of the optimizer's list, {source.short(last.loc)}"
        return replace(
            answer, verdict=Verdict.FROZEN, label=label, finding=False, said=said, location=last.loc, advice=""
        )

    def is_partly_listed(self, subject: TensorSubject[int]) -> bool:
        """Return whether an optimizer takes others of the model that a parameter was a part of then."""
        listing = self.nearest_list(subject)
        return subject.value < listing.time and self._shares_model(subject, listing)

    def is_of_forgotten_group(self, subject: TensorSubject[int]) -> bool:
        """Return whether all that a list leaves out of a model are vectors, and it takes the matrices.

        Biases and scales make a group of their own, without decay, which is easily forgotten: nobody trains a layer's
        weight and means its bias to stay.
        """
        listing = self.nearest_list(subject)
        key = self._model(subject.value), listing.time
        if key not in self._forgotten:
            self._forgotten[key] = self._lacks_vectors_alone(*key)
        return self._forgotten[key]

    def _lacks_vectors_alone(self, model: str, time: int) -> bool:
        listed = {n for listing in self._flow.journal.listings for n in listing.leaves}
        own = {n: named.tensor for n, named in self._flow.names.items() if n < time and self._model(n) == model}
        trained = {n: t.array.ndim for n, t in own.items() if not t.stop_gradient}
        others = [ndim for n, ndim in trained.items() if n not in listed]
        return max(others, default=2) <= 1 < max((trained[n] for n in trained.keys() & listed), default=0)

    def nearest_list(self, subject: TensorSubject[int]) -> ListedLeaves:
        """Return the list that might have held a parameter: of others of its model, or an empty one; else the last."""
        listings = self._flow.journal.listings[::-1]
        own = (x for x in listings if self._shares_model(subject, x))
        empty = (x for x in listings if not x.leaves)
        return next(own, None) or next(empty, None) or listings[0]

    def _shares_model(self, subject: TensorSubject[int], listing: ListedLeaves) -> bool:
        model = self._model(subject.value)
        return bool(model) and any(self._model(value) == model for value in listing.leaves)

    def _model(self, value: int) -> str:
        """Return what the outermost layer that holds a parameter is called; empty where none does."""
        named = self._flow.names.get(value)
        path = getattr(named.tensor, "layer_path", None) if named is not None else None
        if named is None or not path or not named.shown.endswith(f".{path}"):
            return ""
        return named.shown.removesuffix(f".{path}")


def _apart(answer: Answer, verdict: Verdict, said: str) -> Answer:
    """*answer*, which is no finding, without the way of values that it was told of."""
    return replace(
        answer, verdict=verdict, label=verdict.text, finding=False, said=(said,), places=(), path=(), advice=""
    )


def _explain_freeze(flow: JournalFlow, loss: int, subject: TensorSubject[int], answer: Answer) -> Answer:
    """Return what froze a parameter.

    A finding where it had gradients before and its optimizer goes on as if it still did.
    """
    value = subject.value
    stops = [e for e in flow.journal.events.get(value, ()) if e.kind == "stopped"]
    if not stops:
        return replace(answer, label=say("frozen: made with {stops}"))
    last = stops[-1]
    if last.how not in _SETTINGS:
        return answer.rejudge(
            Verdict.STOP_GRADIENT,
            say("{how} set {stops}, which is its default, on the values that it was given", how=last.how),
            location=last.loc,
            advice=say("pass {taking_argument} to {how}", how=last.how),
        )
    setting = say(_SETTINGS[last.how])
    label = f"frozen: {setting}, set at {source.short(last.loc)}"
    before = [e for e in find_additions(flow, value) if e.time < last.time]
    lists = [x for x in flow.journal.listings if value in x.leaves]
    idle = _idle(flow, value)
    if idle is not None:
        several = "all of them" if len(idle.leaves) > 1 else "it is"
        count = f"{len(idle.leaves)} parameters, {several}" if len(idle.leaves) > 1 else f"1 parameter, {several}"
        return replace(
            answer,
            verdict=Verdict.STOP_GRADIENT,
            label=label,
            finding=True,
            said=(f"its optimizer holds {count} frozen: its steps change nothing",),
            location=last.loc,
            places=(("its optimizer", idle.loc),),
            advice=say("give the optimizer parameters that are trained, or set {takes} on those that it holds"),
        )
    widened = _find_second_stage(flow, value, last.time)
    if widened is not None:
        return answer.rejudge(
            Verdict.STOP_GRADIENT,
            f"{setting} was set, and not taken back when an optimizer was made that is to train it",
            places=tuple(zip(("the optimizer before", "and the one with it"), [x.loc for x in widened], strict=True)),
            advice=say("set {takes} before the second optimizer is made, or remove it from its list"),
        )
    if not before or not lists or _other_pass(flow, loss, value) is not None or _is_relisted(flow, value, last.time):
        return replace(answer, label=label)
    passes = "the first backward pass" if len(before) == 1 else f"the first {len(before)} backward passes"
    return answer.rejudge(
        Verdict.STOP_GRADIENT,
        f"{passes} gave it a gradient, then {setting} was set; its optimizer still holds it",
        places=(("its optimizer", lists[-1].loc),),
        advice=say("set {takes} again, or make an optimizer without it"),
    )


def _explain_thaw(flow: JournalFlow, loss: int, subject: TensorSubject[int], answer: Answer) -> Answer | None:
    """Return *answer* about a parameter that was frozen during the pass and takes gradients again after it."""
    maker = flow.maker.get(loss)
    events = flow.journal.events.get(subject.value, ())
    if maker is None or loss not in flow.backward_at:
        return None
    stops = [e for e in events if e.kind == "stopped" and e.time < maker.time]
    thaws = [e for e in events if e.kind == "thawed" and e.time > maker.time]
    if not stops or not thaws or stops[-1].how not in _SETTINGS:
        return None
    frozen, thawed = stops[-1], thaws[0]
    setting = say(_SETTINGS[frozen.how])
    return replace(
        answer,
        verdict=Verdict.FROZEN,
        label=f"frozen during training: {setting} at {source.short(frozen.loc)}, thawed at {source.short(thawed.loc)}",
        finding=False,
        said=(),
        location=frozen.loc,
        places=(("thawed", thawed.loc),),
        advice="",
    )


def _idle(flow: JournalFlow, value: int) -> ListedLeaves | None:
    """Return the optimizer that holds *value* and frozen parameters alone, none of which ever got a gradient."""
    events = flow.journal.events
    for listing in flow.journal.listings:
        if value not in listing.leaves or not any(e.kind == "step" for e in events.get(value, ())):
            continue
        kinds = [{e.kind for e in events.get(leaf, ())} for leaf in listing.leaves]
        if all("stopped" in of and not of & {"added", "thawed"} for of in kinds):
            return listing
    return None


def _find_second_stage(flow: JournalFlow, value: int, frozen: int) -> tuple[ListedLeaves, ListedLeaves] | None:
    """Two optimizers of one model in turn, where all that the second one has more than the first is still frozen.

    That is how a second stage of a training begins; what it was to train has no gradient in it, *value* among it.

    Args:
        frozen: when *value* was frozen.
    """
    for before, after in pairwise(flow.journal.listings):
        more = after.leaves - before.leaves
        if value not in more or frozen > after.time or not before.leaves < after.leaves:
            continue
        trained = [find_additions(flow, leaf) for leaf in before.leaves]
        has_two_stages = all(
            any((e.time > after.time) is later for events in trained for e in events) for later in (False, True)
        )
        if has_two_stages and not any(e.time > after.time for leaf in more for e in find_additions(flow, leaf)):
            return before, after
    return None


def _is_relisted(flow: JournalFlow, value: int, time: int) -> bool:
    """Return whether an optimizer was made after *time* that leaves the parameter out."""
    return any(x.time > time and value not in x.leaves for x in flow.journal.listings)


def _describe_replacement(flow: JournalFlow, value: int) -> str | None:
    """Return the words about a parameter that a layer held once, and holds no longer."""
    replacement = flow.journal.replacements.get(value)
    if replacement is None:
        return None
    at = source.short(replacement.loc)
    if replacement.after is None:
        return f"its layer released it: {at}"
    return f"{flow.name(replacement.after)} took its place: {at}"


def _other_pass(flow: JournalFlow, loss: int, value: int) -> Location | None:
    """Return the line where another backward call than that of *loss* gave *value* a gradient.

    Another one stands on another line, or starts from a loss that another line made.
    """
    added = find_additions(flow, value)
    asked = flow.backward_at.get(loss, ())
    for event in reversed(added):
        if event.into is None or event.into not in flow.maker or loss not in flow.maker:
            continue
        at: Location = event.loc
        if (asked and at[:1] not in asked) or flow.made_at(event.into)[:1] != flow.made_at(loss)[:1]:
            return at
    return None


def find_additions(flow: JournalFlow, value: int) -> list[Event]:
    """The gradients that *value* got."""
    return [e for e in flow.journal.events.get(value, ()) if e.kind == "added"]
