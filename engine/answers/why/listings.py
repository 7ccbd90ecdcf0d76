"""Parameters that get gradients and that no optimizer was given: which list lacks them, and how they came after it."""

from __future__ import annotations

from dataclasses import replace

from ...core.source import Location
from ...core.vocabulary import say
from ...eager.journal_entries import ListedLeaves
from . import callers
from .answers import Answer
from .case import TensorSubject
from .of_journal import JournalFlow
from .verdicts import Verdict


def not_listed(
    flow: JournalFlow,
    subject: TensorSubject[int],
    answer: Answer,
    last: ListedLeaves,
    container: str,
    partly: bool,
    is_group: bool = False,
) -> Answer:
    """The verdict on a parameter that is in no optimizer's list, with the lines of both.

    Args:
        last: the list that might have held it.
        container: the plain list of a Layer that holds the parameter; empty if none does.
        partly: whether the list takes other parameters of the same model.
        is_group: whether it takes all but the vectors of that model.
    """
    said = f"it gets a gradient, and no optimizer holds it: this one has {len(last.leaves)} parameters"
    places: tuple[tuple[str, Location], ...] = (("made", flow.made_at(subject.value)),)
    advice = say("give it to the optimizer, or set {stops} if it is not to be trained")
    replaced = [r.loc for r in flow.journal.replacements.values() if r.after == subject.value]
    location = last.loc
    if container:
        made = callers.find_fill(flow.made_at(subject.value), container)
        location, places = (made, (("the optimizer", last.loc),)) if made else (location, places)
        advice = f"make {container} an {say('{layer_list}')}: parameters() does not look into a plain list"
    elif replaced:
        places = (("took the place of another", replaced[-1]),)
        advice = "make the optimizer after the last change of the layers"
    elif is_group:
        said += ", and none of the vectors of this model, its biases and scales"
        advice = "give the optimizer a second group for them: [{'params': matrices}, {'params': vectors}]"
    elif partly:
        advice = say("add it to the optimizer's list; if it is not to be trained, set {stops} on it")
    elif subject.value > last.time:
        advice = "make the optimizer after the last change of the layers, or add a parameter group to it"
    return answer.rejudge(
        Verdict.NOT_LISTED,
        said,
        location=location,
        places=places,
        advice=advice,
        certain=bool(container) or is_group or not partly,
    )


def judge_awaited(flow: JournalFlow, subject: TensorSubject[int], answer: Answer) -> Answer:
    """*answer* about a parameter that the loss does not hang on, if other processes wait for its gradient."""
    waiting = [x for x in flow.journal.awaited if subject.value in x.leaves]
    if not waiting or not answer.verdict.is_apart:
        return answer
    said = "all processes wait for its gradient, and it never comes: the next forward pass raises"
    return replace(
        answer,
        finding=True,
        said=(*answer.said, said),
        places=(*answer.places, ("waited for since", waiting[-1].loc)),
        advice="use it in every pass, or give find_unused_parameters=True where the processes are put together",
    )


def nobodys(flow: JournalFlow, subject: TensorSubject[int], answer: Answer, use: Location, around: Location) -> Answer:
    """The verdict on a parameter that no optimizer holds, whose gradient nobody clears, and that others write.

    Mostly it is the copy that makes targets, and these are part of the graph.

    Args:
        use: where an operator reads it.
        around: where the loss was computed.
    """
    writes = [e for e in flow.journal.events.get(subject.value, ()) if e.kind == "written"]
    line = callers.caller(use, around) or use
    return answer.rejudge(
        Verdict.NOT_LISTED,
        "every backward call adds to its gradient, and no optimizer holds it: its values are written instead",
        location=line,
        places=(("written", writes[-1].loc), ("the optimizer", flow.journal.listings[-1].loc)),
        advice="if it makes targets, compute them under no_grad() or detach them; else give it to the optimizer",
    )
