"""The two sides of a comparison: models, models in a revision of git, saved programs, and files with an outline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradtool.engine.answers.diff import golden
from gradtool.engine.answers.diff.outline import Outline
from gradtool.engine.core import source, watch
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import Timeline
from gradtool.engine.view.graph import GraphView

from . import loader, opening, revisions
from .errors import CommandError
from .loader import Request
from .model import Model
from .notes import Notes
from .questions.backward import Backward
from .questions.debug import Debug


def outline_of(text: str, request: Request, asked: Backward, notes: Notes) -> Outline:
    """The outline of one side.

    Args:
        text: the side, as the command line names it.
        request: how models are loaded; the model in it is not looked at.

    Raises:
        CommandError: there is nothing of that name.
        GoldenError: a file is no outline.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    if text.endswith(golden.ENDING):
        return golden.read(_read(text), source.last_part(text))
    with _model_of(text, request, asked, notes) as model:
        return dataclasses.replace(model.outline(asked, notes), title=_title(text))


def graph_of(text: str, request: Request, asked: Backward, notes: Notes) -> GraphView:
    """What is drawn of one side.

    Raises:
        CommandError: there is nothing of that name, or it is a file with an outline, which holds no picture.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    if text.endswith(golden.ENDING):
        raise CommandError(f"{text} holds a graph as text, and no picture", "pictures compare two models")
    with _model_of(text, request, asked, notes) as model:
        return dataclasses.replace(model.drawn(asked, notes).view, title=_title(text))


def run_of(text: str, request: Request, asked: Debug, notes: Notes) -> tuple[Timeline, int]:
    """A recorded backward pass of one side with all its values, and how many passes the file made until then.

    Raises:
        CommandError: there is nothing of that name, or it is a file with an outline, which holds no values.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    if text.endswith(golden.ENDING):
        raise CommandError(f"{text} holds a graph and no values", "--values compares two models")
    recorder = Recorder(asked.history, asked.step)
    with _path(text) as path:
        request = dataclasses.replace(request, model=path)
        with recorder.recording(), loader.executed(request, notes) as left, watch.unwatched():
            kind = opening.kind_of(left, request, recorder)
            return kind.timeline(left, request, recorder, asked, notes)[0], recorder.passes


@contextmanager
def request_of(text: str, request: Request) -> Iterator[Request]:
    """The request that loads one side, as long as the ``with`` block runs.

    Raises:
        CommandError: there is nothing of that name, or it is a file with an outline, which cannot be run.
    """
    if text.endswith(golden.ENDING):
        raise CommandError(f"{text} holds a graph as text, which cannot be run", "give a model on both sides")
    with _path(text) as path:
        yield dataclasses.replace(request, model=path)


@contextmanager
def _model_of(text: str, request: Request, asked: Backward, notes: Notes) -> Iterator[Model]:
    """The model that is one side, loaded."""
    with _path(text) as path:
        request = dataclasses.replace(request, model=path, **asked.needs)
        with loader.executed(request, notes) as left:
            yield opening.model_in(left, request)


@contextmanager
def _path(text: str) -> Iterator[str]:
    """The file that a side names, which is there as long as the ``with`` block runs."""
    if revisions.is_revision(text):
        with revisions.checked_out(text) as path:
            yield path
    else:
        yield text


def _title(text: str) -> str:
    return text if revisions.is_revision(text) else source.last_part(text)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{path} is no text in UTF-8") from None
