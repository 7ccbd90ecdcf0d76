"""Answers about errors of backward that have two sides: who wrote and who read, who freed and who came again."""

from __future__ import annotations

from dataclasses import replace

from ...core.source import Location
from ...eager.journal import Journal
from ...eager.tape import FreedGraphError, InplaceError
from ...eager.tensor import Tensor
from ...ops import registry
from .answers import Answer
from .carried_state import CarriedValue, find_carried, is_made_again, is_same
from .verdicts import Verdict


def explain_failure(
    error: FreedGraphError | InplaceError, raised: Location, journal: Journal | None = None, loss: Tensor | None = None
) -> Answer:
    """The answer about *error*.

    Args:
        raised: where the user's program called what raised it.
        journal: kept until then.
        loss: what the backward call that raised it began at.
    """
    number = None if journal is None or loss is None else journal.number(loss)
    if journal is None or number is None:
        return _overwritten(error, raised) if isinstance(error, InplaceError) else _explain_second(error, raised, _SUM)
    if isinstance(error, InplaceError):
        return _explain_overwriting(error, raised, journal, number)
    kept = find_carried(journal, number, error.freed)
    if kept is not None:
        return _explain_carried(kept, _places(error, raised), error.freed == raised)
    return _explain_second(error, raised, _ANEW if is_same(journal, number) else _SUM)


_ANEW = "compute the loss anew before each backward call, or retain_graph=True in the first"
_SUM = "one backward of the sum of both, or retain_graph=True in the first"


def _places(error: FreedGraphError, raised: Location) -> tuple[tuple[str, Location], ...]:
    return (("freed by", error.freed), ("needed by", raised), ("made at", error.reader))


def _explain_second(error: FreedGraphError, raised: Location, advice: str) -> Answer:
    said = f"the first backward freed what {error.type} kept, and the second one needs it"
    return _freed(error.freed, said, _places(error, raised), advice)


def _freed(at: Location, said: str, places: tuple[tuple[str, Location], ...], advice: str) -> Answer:
    return Answer(
        "backward",
        "",
        (),
        "",
        False,
        Verdict.FREED,
        Verdict.FREED.text,
        True,
        said=(said,),
        location=at,
        places=places,
        advice=advice,
    )


ANEW = "enter {by} anew for each loss, and only around its forward pass"
"""What is to be done where a context keeps values for longer than their graph is good for."""


def _explain_carried(kept: CarriedValue, places: tuple[tuple[str, Location], ...], in_a_loop: bool) -> Answer:
    """The graph of one backward call leads into that of another."""
    if kept.by:
        said = f"{kept.by} keeps what this line computed before the first backward call, which freed its graph"
        return _freed(kept.kept, said, places, ANEW.format(by=kept.by))
    name = kept.name or "what this line makes"
    if not in_a_loop:
        said = f"{name} was computed before the first backward call, which freed its graph, and is used after it"
        detached = f"detach {name} where the first loss uses it" if kept.name else "detach it for the first loss"
        return _freed(kept.kept, said, places, f"{detached}, or retain_graph=True in the first backward")
    said = f"{name} is kept from the last step with its graph, which the backward of that step freed"
    if kept.in_list:
        advice = f"detach the state: add a detached copy to {name} (….detach())"
    else:
        state = f"the state held in {name} (.detach() of each of its tensors)" if kept.name else "the state"
        advice = f"detach {state} before the next step uses it"
    return _freed(kept.kept, said, places, advice)


def _overwritten(error: InplaceError, raised: Location) -> Answer:
    return Answer(
        "backward",
        "",
        (),
        "",
        False,
        Verdict.OVERWRITTEN,
        Verdict.OVERWRITTEN.text,
        True,
        said=(f"{error.writer} overwrote in place what the gradient of {error.type} needs",),
        location=error.written,
        places=(("writer", error.written), ("reader", error.reader), ("backward", raised)),
        advice=_STEP if _is_update(error.writer) else _COPY,
    )


def _explain_overwriting(error: InplaceError, raised: Location, journal: Journal, loss: int) -> Answer:
    """The answer about a value that was overwritten; of one that an optimizer wrote, what leads back to before that."""
    answer = _overwritten(error, raised)
    if not _is_update(error.writer):
        return answer
    kept = find_carried(journal, loss, raised)
    if kept is None or not kept.name or kept.by or not is_made_again(journal, loss, kept):
        return answer
    held = f"the state held in {kept.name}" if kept.in_list else kept.name
    said = (
        f"{kept.name} is kept from the last step with its graph: backward goes through that step again",
        f"the step of the optimizer has changed since what the gradient of {error.type} needs there",
    )
    advice = f"detach {held} before the next step uses it (.detach()), and leave out retain_graph=True"
    return replace(answer, said=said, location=kept.kept, advice=advice)


def _is_update(writer: str) -> bool:
    """Return whether it is the operator of an optimizer, or all of its step."""
    if writer == "step":
        return True
    op = registry.find(writer)
    return op is not None and "Param" in op.input_index


_COPY = "edit a copy (x.clone()), or use the operator that makes a new tensor"
_STEP = "call backward for all losses before the first step(), or compute the second loss after it"
