"""A model that is run while a recorder listens: for the debugger, and for comparing the values of two runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..core import watch
from ..core.notes import Notes
from ..kinds.model import Model
from ..request.options import Debug
from ..request.request import Request
from ..runs.recorder import Recorder
from ..runs.timeline import Timeline
from ..script.script_state import Loaded
from . import loader, opening


@contextlib.contextmanager
def record_model(recorder: Recorder, request: Request, notes: Notes) -> Iterator[Loaded]:
    """As :func:`.loader.run_model`, with *recorder* listening to the file alone; nobody hears what is done inside.

    Raises:
        CommandError: there is no such file, module or function.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    # Ahead of anything that is imported while the file runs: what was computed is told to the recorder alone.
    with (
        recorder.record(),
        loader.run_model(request, notes, lambda: recorder.closed) as left,
        watch.pause_watchers(),
    ):
        yield left


def timeline(
    left: Loaded, request: Request, recorder: Recorder, asked: Debug, notes: Notes
) -> tuple[Timeline, Model | None]:
    """The backward pass that was recorded, or one more, and the model that it is of, if the file came to one.

    Raises:
        CommandError: no loss, a selector that selects nothing, an option that fits no such model.
    """
    return opening.kind_of(left, request, recorder).timeline(left, request, recorder, asked, notes)
