"""``gradtool.load``: a model, to be asked what the command line is asked."""

from __future__ import annotations

import os
from collections.abc import Sequence

from . import opening
from .errors import asked_in_python
from .loader import Request
from .model import Model


def load(
    model: str | os.PathLike[str],
    *,
    loss: str | None = None,
    arg: Sequence[str] = (),
    seed: int = 0,
    mode: str = "auto",
    write: bool = False,
) -> Model:
    """Load whatever the command line loads, and give a model that answers as its commands do.

    Args:
        model: a file (``"model.py"``), a function in it (``"model.py:build"``), a module's function
            (``"pkg.mod:build"``), a saved program, or whatever an importer reads.
        loss: a Python name or a tensor name, where there are several candidates.
        arg: ``NAME=VALUE``, arguments of the function.
        seed: of parameters and random feeds.
        write: let the file change other files. Else what it writes goes when it is answered, and only its own run has
            read it.
        mode: ``static`` as if the file began with ``paddle.enable_static()``.

    Returns:
        A model: ``backward()``, ``why("w")``, ``nan()``, ``stats()``, ``graph()``, … take the options of the commands
        as keywords and give the object that the command shows. Each of them runs the file anew, watched as it needs;
        nothing of the running program changes.

    Raises:
        UsageError: there is no such file or function, no loss or several (a ValueError).

    What the file raises passes.

    >>> model = load("samples/frozen_branch.py")
    >>> model.mode
    'static'
    >>> len(model.backward(no_grad="*b_0*").no_grad) > 0
    True
    """
    request = Request(os.fspath(model), loss, tuple(arg), seed, mode, write=write)
    with asked_in_python("gradtool.load"), opening.opened(request) as loaded:
        return loaded
