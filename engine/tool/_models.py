"""``gradtool.flow``, ``gradtool.diff`` and ``gradtool.check``: questions about models in files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from gradtool.engine.core.command_errors import raise_for_python
from gradtool.engine.core.errors import UsageError
from gradtool.engine.gate.check import Check
from gradtool.engine.gate.discovery import Models
from gradtool.engine.gate.policy import Policy
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.selection import Selection
from gradtool.engine.kinds.model import Model
from gradtool.engine.loading.from_python import request_of
from gradtool.engine.loading.recorded_run import RunOfLoop, record
from gradtool.engine.questions.diff import Diff, Differences
from gradtool.engine.questions.flow import Flow, Flows
from gradtool.engine.recorders import live


def flow(
    model: Any,
    *,
    from_: str | Sequence[str] = (),
    to: str | Sequence[str] = (),
    feed: str | None = None,
    step: int | None = None,
) -> Flows:
    """Change values of a model, and return which others change, and through which operators.

    Args:
        model: a file, as :func:`load` takes it; what :func:`load` or :func:`recording` returned; or a function that
            computes a loss with PyTorch, which is called once.
        from_: values to change, ``"x"`` or ``"x[3]"``; each input when empty.
        to: values to watch, ``"out[1]"``; the loss when empty.
        feed: a file of arrays to feed to a program.
        step: number of the backward pass, from 1; the last one by default.

    Returns:
        The pairs of values, in ``pairs``: from, to, and what was found. Printing shows what ``gradtool flow`` prints.

    Raises:
        UsageError: there is no such file, value or pass (a ValueError).

    >>> import gradtool
    >>> answer = gradtool.flow("samples/frozen_branch.py", from_="x")
    >>> len(answer.pairs)
    1
    """
    question = Flow(from_=_tuple_of(from_), to=_tuple_of(to), feed=feed, step=step)
    if live.is_foreign(model):
        raise UsageError(
            "gradtool.flow: values are changed and computed again, and this loss has been computed unheard.",
            hint="compute it inside 'with gradtool.recording() as run:' and ask run.flow(…), or give a function that "
            "computes it",
        )
    if callable(model):
        model = record(model)
    if isinstance(model, RunOfLoop):
        model = model.model
    if isinstance(model, Model):
        return model.ask(question)
    with raise_for_python("gradtool.flow"):
        return question.ask(request_of("gradtool.flow", model))


def diff(
    before: str | os.PathLike[str],
    after: str | os.PathLike[str],
    *,
    params: str | Sequence[str] = (),
    no_grad: str | Sequence[str] = (),
    checkpoints: str | Sequence[str] = (),
    values: bool = False,
    feed: str | None = None,
    resources: bool = False,
    backend: str | None = None,
    against: str | None = None,
) -> Differences:
    """Compare the graphs of two models.

    Args:
        before, after: files, ``"model.py@main"`` for a file as git holds it, dumps, or saved sessions.
        params: selectors of the parameters whose gradients are compared; all of them when empty.
        no_grad: selectors of tensors at which gradients are cut.
        checkpoints: selectors of the tensors that backward keeps, in static programs.
        values: run both with the same seed and feeds, and compare what they compute.
        feed: a file of arrays to feed to both.
        resources: measure what one step of each costs.
        backend: name of the backend that computes *before*, or both.
        against: name of the backend that computes *after*; values are compared then.

    Returns:
        The differences. ``findings`` counts them; printing shows what ``gradtool diff`` prints.

    Raises:
        UsageError: a side is not there, or both are of kinds that cannot be compared (a ValueError).

    >>> import gradtool
    >>> gradtool.diff("samples/frozen_branch.py", "samples/frozen_branch.py").findings
    0
    """
    question = Diff(
        params=_tuple_of(params),
        no_grad=_tuple_of(no_grad),
        checkpoints=_tuple_of(checkpoints),
        values=values,
        feed=feed,
        resources=resources,
        backend=backend,
        against=against,
    )
    sides = (os.fspath(before), os.fspath(after))
    with raise_for_python("gradtool.diff"):
        return question.ask(sides, request_of("gradtool.diff", sides[-1]))


def check(
    *models: str | os.PathLike[str],
    select: str | Sequence[str] = (),
    ignore: str | Sequence[str] = (),
    jobs: int | None = None,
) -> Report:
    """Check models with all rules, as ``gradtool check`` does without settings from files.

    Args:
        models: files, folders or globs.
        select: codes, beginnings of codes or names of rules to apply, ``"GT1"``; the usual ones when empty.
        ignore: rules to skip.
        jobs: number of models to check at a time, each in its own process; 0 checks all in this process.

    Returns:
        The report. ``findings`` counts the findings that are errors.

    Raises:
        UsageError: there is no such file, or no such rule (a ValueError).

    >>> import gradtool
    >>> gradtool.check("samples/frozen_branch.py", select="GT103", jobs=0).findings
    2
    """
    selection = Selection(select=_tuple_of(select), ignore=_tuple_of(ignore))
    with raise_for_python("gradtool.check"):
        subjects = Models().select([os.fspath(model) for model in models])
        return Check(policy=Policy(selection=selection), jobs=jobs).ask(subjects)


def _tuple_of(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name, or several, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)
