"""``gradtool.report``, and what the command shares with it: from a model to a document and its files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.model_run import compute_loss
from gradtool.engine.core import source, state, watch
from gradtool.engine.core.command_errors import CommandError, Unreadable, raise_for_python
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.notes import SILENT, Notes
from gradtool.engine.eager.journal import current, keep_journal
from gradtool.engine.eager.tape import keep_graphs
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.executor.scope import Scope, global_scope, scope_guard
from gradtool.engine.files.writing import write_files
from gradtool.engine.ir.variable import Variable
from gradtool.engine.loading.live_models import WORDS, make_model
from gradtool.engine.questions.why import Opened
from gradtool.engine.recorders.live import stand_in
from gradtool.engine.request.request import Request
from gradtool.engine.script import sessions

from ..document import session as saved_session
from ..document.blocks import Document
from ..document.forms import FORMS
from .findings import Inquiry, Noting, Search, find_in_case, find_in_file
from .sections import document

_HERE = "gradtool.report"


# -- the command ------------------------------------------------------------------------------------------------------


def report_on_request(
    request: Request, inquiry: Inquiry, notes: Notes, *, session: str | None = None, title: str = ""
) -> Document:
    """The report on a model file.

    Args:
        session: the file of a saved session; a notebook opens it on this model, with the session's own options.
    """
    kept = saved_session.KeptSession("", []) if session is None else _load_session(session)
    findings = find_in_file(request, inquiry, Noting(notes))
    debugged = saved_session.line_of([request.model, *_words(kept.model)[1:]] if kept.model else request.words())
    return document(findings, request.words(), title=title, cells=kept.cells, debugged=debugged)


def _words(line: str) -> list[str]:
    """The words of the command line that a session was begun with."""
    try:
        return shlex.split(line)
    except ValueError as error:
        raise CommandError(f"the saved session names no model that can be read: {error}") from None


def render(made: Document, files: Mapping[str, str], request: Request, inquiry: Inquiry) -> dict[str, str]:
    """Path -> text, for the forms asked for.

    Raises:
        CommandError: a notebook could not run again.
    """
    texts = {}
    for form, path in files.items():
        shown = made
        if form == "ipynb":
            shown = _runnable(made, path, request, inquiry)
        texts[path] = FORMS[form](shown)
    return texts


def check_distinct(files: Mapping[str, str]) -> None:
    """Raise :class:`CommandError` if two forms are to go to one file."""
    places: dict[str, str] = {}
    for form, path in files.items():
        other = places.setdefault(os.path.realpath(path), form)
        if other != form:
            raise CommandError(f"--{other} and --{form} name the same file: {path}")


def _runnable(made: Document, path: str, request: Request, inquiry: Inquiry) -> Document:
    """The document with code that finds the model from where the notebook lies."""
    session = sessions.current()
    here = session is not None and session.has(request.model)
    if here or request.model.partition(":")[0] == "-":
        gone = f"{request.model} lives in this notebook" if here else "a program on standard input is gone by then"
        raise CommandError(
            f"a notebook runs its model again, and {gone}",
            "save the program in a file, or write --html and --md only",
        )
    folder = os.path.dirname(os.path.realpath(path))
    where = saved_session.relative_name(folder, request.model)
    named: dict[str, Any] = {
        "loss": request.objective.loss,
        "arg": list(request.run.arg),
        "seed": request.run.seed,
        "mode": request.run.mode,
        "params": list(inquiry.params),
        "no_grad": list(inquiry.no_grad),
        "feed": None if inquiry.feed is None else saved_session.relative_name(folder, inquiry.feed),
        "run": not inquiry.no_run,
    }
    given = [f"{name}={value!r}" for name, value in named.items() if value != _USUAL[name]]
    code = f"import gradtool\n\nreport = gradtool.report({', '.join([repr(where), *given])})"
    sections = tuple(saved_session.relative_section(s, path) if s.name == "session" else s for s in made.sections)
    return replace(made, code=code, sections=sections)


_USUAL: dict[str, Any] = {
    "loss": None,
    "arg": [],
    "seed": 0,
    "mode": "auto",
    "params": [],
    "no_grad": [],
    "feed": None,
    "run": True,
}


def _load_session(file: str) -> saved_session.KeptSession:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"cannot read {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{file} is no saved session: it is not UTF-8") from None
    return saved_session.from_jsonl(text, file)


# -- from Python ------------------------------------------------------------------------------------------------------


def report(
    model: Any,
    *,
    html: str | os.PathLike[str] | None = None,
    ipynb: str | os.PathLike[str] | None = None,
    md: str | os.PathLike[str] | None = None,
    title: str = "",
    feed: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    loss: str | None = None,
    arg: Sequence[str] = (),
    seed: int = 0,
    mode: str = "auto",
    params: Sequence[str] = (),
    no_grad: Sequence[str] = (),
    run: bool = True,
) -> Document:
    """Everything about the gradients of one model as a document, which notebooks show.

    Args:
        model: a model file (``"model.py"``, ``"model.py:build"``, as the command line takes it); a function that
            computes a loss in dynamic mode and returns it; a loss Tensor that was computed inside
            :func:`gradtool.watching`; or the loss Variable of a static program, which stays as it is.
        html, ipynb, md: files to write, all or none: a page without scripts, a notebook that runs again, Markdown.
        title: stands at the top.
        feed: arrays by name, or an ``.npz`` file, for a static program; random numbers stand in for it.
        loss, arg, seed, mode: how a model file is loaded, as the command line's options.
        params, no_grad: names and patterns of parameters and of tensors at which gradients are cut.
        run: False looks at the graph of a static program alone.

    Returns:
        A document: ``report["verdict"]`` and the other sections, ``save("report.html")``, ``json``. Nothing of the
        program changes: no ``.grad``, no parameter, no random stream.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).
        UsageError: there is no such file or name, or the Tensor was computed outside ``watching`` (a ValueError).
        OSError: a file cannot be written.

    What a model file raises passes.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> report = gradtool.report(lambda: (w * w).detach().sum())
    >>> [section.name for section in report.sections]
    ['verdict', 'gradients', 'picture', 'sizes', 'nan', 'source', 'environment', 'json']
    >>> report["verdict"].blocks[0].text.splitlines()[0]
    'generated_tensor_0   grad = None   verdict: DETACHED'
    """
    files = {form: os.fspath(p) for form, p in (("html", html), ("ipynb", ipynb), ("md", md)) if p is not None}
    inquiry = Inquiry(params=tuple(params), no_grad=tuple(no_grad), no_run=not run)
    is_file = isinstance(model, (str, os.PathLike))
    if not is_file:
        _check_usual(loss=loss, arg=list(arg), seed=seed, mode=mode)
    with raise_for_python(_HERE):
        check_distinct(files)
        with _keep_state():
            if is_file:
                if isinstance(feed, Mapping):
                    raise UsageError(f"{_HERE}: a model file is fed from an .npz file.", hint="feed='feed.npz'")
                inquiry = replace(inquiry, feed=None if feed is None else os.fspath(feed))
                request = Request.create(os.fspath(model), loss=loss, arg=tuple(arg), seed=seed, mode=mode)
                made = report_on_request(request, inquiry, SILENT, title=title)
                texts = render(made, files, request, inquiry)
            else:
                made = _report_on_live(model, inquiry, feed, title)
                texts = {path: FORMS[form](made) for form, path in files.items()}
    write_files({path: text.encode("utf-8", "backslashreplace") for path, text in texts.items()})
    return made


def _check_usual(**given: Any) -> None:
    for name, value in given.items():
        if value != _USUAL[name]:
            raise UsageError(f"{_HERE}: {name!r} says how a model file is loaded, but 'model' is no file.")


@contextmanager
def _keep_state() -> Iterator[None]:
    """Keep the random stream, parameters and batch statistics as they are while the code inside runs."""
    position = state.random.position
    scope = Scope()
    scope.values.update({name: np.array(value) for name, value in global_scope().values.items()})
    try:
        with scope_guard(scope):
            yield
    finally:
        state.random.position = position


def _report_on_live(model: Any, inquiry: Inquiry, feed: Any, title: str) -> Document:
    """The report on a loss that the running program holds, or computes when it is asked to."""
    notes = Noting()
    search = Search()
    model = stand_in(model)
    watching: Any = nullcontext(current())
    if not isinstance(model, (Tensor, Variable)):
        watching = keep_journal()
    with keep_graphs(), watching as journal:
        if isinstance(model, (Tensor, Variable)):
            loss = model
        else:
            adapter = Adapter(search.coverage)
            with source.full_stacks(), watch.watch(adapter):
                loss = compute_loss(model)
                adapter.finish()
        with watch.pause_watchers():
            held = make_model(loss, _HERE, title=title, feed=feed, journal=journal, live=loss is model)
            case = held.case(inquiry.why, notes)
            words = [*WORDS, *inquiry.words]
            told = find_in_case(
                Opened(replace(held.about, words=words), case.target_name(), case, False, model=held),
                search,
                inquiry,
                notes,
            )
    return document(
        told,
        WORDS,
        title=title,
        code="import gradtool\n\nreport = gradtool.report(loss)",
        intro="To run this again, compute loss in a cell above, inside gradtool.watching() if it is a Tensor.",
    )
