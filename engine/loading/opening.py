"""From what a file left behind to a model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..kinds.model import Model
from ..kinds.passes import others
from ..kinds.program.model import ProgramModel
from ..kinds.run_notes import scope_of
from ..kinds.tape.model import TapeModel
from ..request.request import Request
from ..runs.recorder import Recorder
from ..script.script_state import Loaded
from . import loader

KINDS: list[type[Model]] = [TapeModel, ProgramModel]
"""The kinds of models, the first that claims what a file left behind is asked for it."""


def model_in(left: Loaded, request: Request) -> Model:
    """The model in what a file left behind.

    Raises:
        CommandError: no loss, several, or an unknown name.
        GradtoolError: what the file raised in its first backward pass.
    """
    if left.calls.passes and not left.passes and left.error is not None:
        raise left.error
    model = kind_of(left, request).find_in(left, request)
    model.scope = scope_of(left)
    if left.calls.every[1:]:
        model.left_out, model.together = others(left, request)
        own = {sibling.number_of_pass for sibling in model.siblings if sibling.has_own_rules}
        for other in model.together:
            other.has_own_rules = other.number in own
    return model


def models_of_step(left: Loaded, request: Request) -> list[Model]:
    """Return the model that is meant, and one for each other backward pass of the step that it is in.

    A step is what happens between two updates. No pass is run again and the file neither.

    Raises:
        CommandError, GradtoolError: as for :func:`model_in`.
    """
    model = model_in(left, request)
    return [model, *model.siblings]


def kind_of(left: Loaded, request: Request, recorder: Recorder | None = None) -> type[Model]:
    """The kind of model that a file left behind.

    Args:
        recorder: listened while the file ran, if one did.
    """
    return next(kind for kind in KINDS if kind.claims(left, request, recorder))


def is_of_program(left: Loaded, request: Request) -> bool:
    """Return whether a request says by its number which of several backward calls of programs is meant.

    All that an answer about such a call needs is in the programs and the scope; a pass of dynamic mode has let go of
    its graph.
    """
    return not left.live and any(str(call.number) == request.backward for call in left.calls.appended)


@contextlib.contextmanager
def mean(left: Loaded, request: Request) -> Iterator[None]:
    """Inside, the backward call that a request says is the one that is meant, of a file that ran for another one."""
    before = left.calls.which
    left.calls.which = request.backward
    try:
        yield
    finally:
        left.calls.which = before


@contextlib.contextmanager
def open_model(request: Request) -> Iterator[Model]:
    """Load a model; its programs and its scope are the current ones inside the ``with`` block.

    Raises:
        CommandError: no file, no loss, several losses, an unknown name.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    with loader.run_model(request) as left:
        yield model_in(left, request)
