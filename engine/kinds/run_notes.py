"""Notes about a run next to the answer: where it ended, and what it would have left behind."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from ..core import deviations, source, state
from ..core.notes import Notes
from ..core.wording import command_line, count
from ..files.overlay import Overlay
from ..kernels.choice import backend, current, eager, reference
from ..request.request import Request
from ..script.calls import PassCalls
from ..script.effects import starts_processes
from ..script.script_state import Loaded, has_two_sides
from .watched_extent import INTERRUPTED, RAISED, STOPPED, WatchedPart

_NAMED = 3
"""Files that are named; of more, the number is told."""
_COMPUTED = "backward, why, nan, stats, gradcheck, profile, debug, flow and diff --values"
"""The questions that a backend which compiles answers about dynamic mode."""


def stop(left: Loaded, notes: Notes) -> None:
    """Say where a file was stopped, if it was: what would have happened later is not part of any answer."""
    text = describe_end(left)
    if text:
        notes.note_stop(text)


def describe_end(left: Loaded) -> str:
    """Return the message about where a file was stopped, and what lets it go on; empty where it ran to its end."""
    calls = left.calls
    if calls.stopped is None:
        return ""
    time = "" if calls.time_limit is None or calls.interrupted else f"{calls.time_limit:g} s and "
    ended, more = describe_stop(calls)
    return f"{left.name} was {ended} after {time}{count(calls.passes, 'backward pass')}; {more}"


def scope_of(left: Loaded) -> WatchedPart:
    """Return how much of a file that has run was seen."""
    calls = left.calls
    ended = RAISED if left.error is not None else ""
    if calls.stopped is not None:
        ended = INTERRUPTED if calls.interrupted else STOPPED
    return WatchedPart(left.passes, calls.which, ended, describe_end(left))


def absent(left: Loaded, packages: Sequence[str], notes: Notes) -> None:
    """Say which packages a file went on without."""
    for name in packages:
        notes.note(f"{name} is not installed where gradtool is: what {left.name} shows with it is not shown")


def elsewhere(left: Loaded, notes: Notes) -> None:
    """Say that a backend which compiles programs has not computed what dynamic mode has."""
    if is_left_to_another() and not any(block.ops for block in left.main.blocks):
        notes.note(f"{left.name}: {backend_note()}")


def tell_otherwise(left: Loaded, notes: Notes) -> None:
    """Say what of a file ran otherwise than without gradtool."""
    for entry in left.otherwise.values():
        notes.note(deviations.sentence(entry))


def is_left_to_another() -> bool:
    """Return whether the backend in use leaves dynamic mode to one of another name."""
    return current().name != eager().name


def backend_note() -> str:
    """Return the note about dynamic mode where the backend in use leaves it to the reference."""
    chosen, own = current(), reference().name
    if not chosen.compiles:
        return f"dynamic mode is computed on {own}; {chosen.name} computes static programs"
    return (
        f"dynamic mode is recorded on {own}, and {chosen.name} computes what was recorded for {_COMPUTED}; "
        f"other answers are about what {own} computed"
    )


def rules_on_the_reference(name: str | None, notes: Notes) -> None:
    """Say what a backend which compiles programs does not compute of one where operators are looked at one by one.

    Args:
        name: of the backend; the one in use if None.
    """
    chosen = current() if name is None else backend(name)
    if chosen.compiles:
        notes.note(
            f"operators run one by one on {chosen.name}, and gradients are taken from the rules on {reference().name}"
        )


def users_own(left: Loaded, own: Collection[str], notes: Notes) -> None:
    """Say what a backend did not compute of what was recorded, since it is the user's own Python."""
    if own:
        named = [*own][:_NAMED]
        more = f" and {count(len(own) - _NAMED, 'more')}" if len(own) > _NAMED else ""
        notes.note(f"{left.name}: what {', '.join(named)}{more} gave is what it was on {reference().name}")


def stand_ins(left: Loaded, notes: Notes) -> None:
    """Say which operators of a program are none of gradtool's, all at once."""
    from ..ops.stand_in import StandIn

    told = {op.op.absent: None for block in left.main.blocks for op in block.ops if isinstance(op.op, StandIn)}
    for absent in told:
        lines = "; ".join(absent.texts())
        notes.note(
            f"{left.name} holds {count(len(absent.reasons), 'operator')} that gradtool does not have, so it is not "
            f"run, and their gradients are those that Paddle makes by default: {lines}"
        )


def describe_stop(calls: PassCalls) -> tuple[str, str]:
    """Return the message about how a file was stopped, and where; and what there is to know about that."""
    assert calls.stopped is not None
    verb, more = "stopped", "--steps all lets it run to its end"
    if calls.interrupted:
        verb, more = "interrupted", "the answer is incomplete"
    elif calls.is_cut:
        more = "the recording ends there"
    elif calls.late:
        more = "--limit SECONDS gives it longer"
    return f"{verb} at {source.short(calls.stopped)}", more


def pass_before(left: Loaded) -> int | None:
    """The number of the last pass of dynamic mode that came to its end before one failed so; None if there is none."""
    calls = left.calls
    if not has_two_sides(left.error) or calls.which is not None or not left.passes:
        return None
    ran = [call for call in calls.swept[:-1] if call.how == "backward" and call.loss is not None]
    return next((call.number for call in reversed(ran)), None)


def explain(error: Exception, request: Request) -> None:
    """Let the message of an error that has two sides say who shows both."""
    if request.record.unfinished and has_two_sides(error):
        error.hint = f"{error.hint}; {command_line('gradtool', 'why', *request.words())} shows both sides"


def error(left: Loaded, notes: Notes) -> None:
    """Say what a file raised, and what the answer is about then."""
    if left.error is not None:
        ran = f": {count(left.passes, 'backward pass')}" if left.passes else ""
        notes.note_error(left.error, f"reported is what had run until then{ran}")


def files(left: Loaded, overlay: Overlay, notes: Notes) -> None:
    """Say which files are not as the model would have left them."""
    written, removed = overlay.changes()
    for paths, verb in ((written, "wrote"), (removed, "removed")):
        if paths:
            notes.note(
                f"{left.name} {verb} {_name_paths(paths, overlay.home)}: only this run saw that; --write makes it so"
            )


def processes(left: Loaded, file: str, notes: Notes) -> None:
    """Say that processes which a file has started write where they like."""
    if starts_processes(file):
        notes.note(f"{left.name} starts processes: what they write reaches your files, unlike what the run writes")


def _name_paths(paths: Sequence[str], folder: str | None) -> str:
    """The paths, those below the folder from there."""
    here = os.path.join(folder or "", "")
    first = ", ".join(path.removeprefix(here) for path in paths[:_NAMED])
    more = len(paths) - _NAMED
    return f"{first} and {count(more, 'more file')}" if more > 0 else first


def points_done(done: int, total: int) -> None:
    """Tell whoever shows it how far a sweep is."""
    state.progress.note("points", done, total)
