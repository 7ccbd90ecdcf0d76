"""From a request to a model of either mode."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from . import loader, program_model, tape_model
from .errors import CommandError
from .loader import Loaded, Request
from .program_model import ProgramModel
from .tape_model import TapeModel


@contextlib.contextmanager
def program(request: Request) -> Iterator[ProgramModel]:
    """Load a model; its programs and its scope are the current ones inside the ``with`` block.

    Raises:
        CommandError: no file, no loss, several losses, an unknown name.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    with loader.executed(request) as left:
        if tape_model.is_eager(left, request):
            raise CommandError(
                f"{left.name} works in dynamic mode: this command takes static programs",
                "gradtool backward, program and dump take both",
            )
        yield program_model.find(left, request)


@contextlib.contextmanager
def opened(request: Request) -> Iterator[ProgramModel | TapeModel]:
    """Load a model of either mode; see :func:`loaded`."""
    with loader.executed(request) as left:
        yield model_in(left, request)


def model_in(left: Loaded, request: Request) -> ProgramModel | TapeModel:
    """The model of either mode in what a file left behind."""
    return tape_model.find(left, request) if tape_model.is_eager(left, request) else program_model.find(left, request)
