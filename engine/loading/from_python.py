"""``gradtool.load``: models of the command line, in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..core.command_errors import raise_for_python
from ..core.errors import UsageError
from ..kinds.model import Model
from ..request.limits import EACH, passes_watched, which_pass
from ..request.request import Request
from . import opening

T = TypeVar("T")


def load(
    model: str | os.PathLike[str],
    *,
    loss: str | None = None,
    loss_fn: str | None = None,
    label: str | None = None,
    arg: Sequence[str] = (),
    seed: int = 0,
    mode: str = "auto",
    write: bool = False,
    script: Sequence[str] = (),
    as_module: bool = False,
    backward: int | str | None = None,
    steps: int | str | None = None,
    limit: float | None = None,
) -> Model:
    """Load whatever the command line loads, and give a model that answers as its commands do.

    Args:
        model: a file (``"model.py"``), a function in it (``"model.py:build"``), a module's function
            (``"pkg.mod:build"``), a saved program, or whatever an importer reads.
        loss: a Python name or a tensor name, where there are several candidates.
        loss_fn, label: of a saved program that has no loss: ``"mse"`` or ``"cross_entropy"`` compares its output (or
            *loss*) with what is fed as *label*.
        arg: ``NAME=VALUE``, arguments of the function.
        seed: of parameters and random feeds.
        write: let the file change other files. Else what it writes goes when it is answered, and only its own run has
            read it.
        mode: ``static`` as if the file began with ``paddle.enable_static()``.
        script: arguments of the file, as after ``--``: ``["--lr", "3"]``.
        as_module: *model* is a module, run as by ``python -m``.
        backward: the backward pass that answers are about: its number, or ``"line:train.py:41"``; the last one by
            default.
        steps: the file is stopped after so many backward passes, ``"all"`` for never; by default after 50
            that take a minute or longer.
        limit: it is stopped after so many seconds.

    Returns:
        A model: ``backward()``, ``why("w")``, ``nan()``, ``stats()``, ``graph()``, … take the options of the commands
        as keywords and give the object that the command shows. Each of them runs the file anew, watched as it needs;
        nothing of the running program changes.

    Raises:
        UsageError: there is no such file, function or backward pass, no loss or several, or an argument is none of
            these (a ValueError).

    What the file raises passes.

    >>> model = load("samples/frozen_branch.py")
    >>> model.mode
    'static'
    >>> len(model.backward(no_grad="*b_0*").no_grad) > 0
    True
    """
    request = request_of(
        "gradtool.load",
        model,
        loss=loss,
        loss_fn=loss_fn,
        label=label,
        arg=arg,
        seed=seed,
        mode=mode,
        write=write,
        script=script,
        as_module=as_module,
        backward=backward,
        steps=steps,
        limit=limit,
    )
    with raise_for_python("gradtool.load"), opening.open_model(request) as loaded:
        return loaded


def request_of(who: str, model: str | os.PathLike[str], **words: Any) -> Request:
    """The request that words of Python make; raises :class:`UsageError` for one that is none of these."""
    script, limit = words.get("script", ()), words.get("limit")
    if isinstance(script, str):
        raise UsageError(f"{who}: script is a list of words, but is {script!r}.", hint="script=['--lr', '3']")
    if limit is not None and not limit > 0:
        raise UsageError(f"{who}: limit is a number of seconds above 0, but is {limit!r}.")
    words["backward"] = _read(who, "backward", which_pass, words.get("backward"))
    if words["backward"] == EACH:
        raise UsageError(f"{who}: a model answers about one backward pass, not about {EACH}.")
    words["steps"] = _read(who, "steps", passes_watched, words.get("steps"))
    words |= {name: tuple(words[name]) for name in ("arg", "script") if name in words}
    return Request.create(os.fspath(model), **words)


def _read(who: str, name: str, read: Callable[[Any], T], value: Any) -> T:
    """Convert an argument with *read*."""
    try:
        return read(value)
    except ValueError as error:
        raise UsageError(f"{who}: {name}: {error}.") from None
