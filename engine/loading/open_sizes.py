"""Sizes that a request gives to a saved model: ``--arg NAME=SIZE``, and what is fed."""

from __future__ import annotations

import os
from typing import Any

from ..core.command_errors import CommandError
from ..data import row_syntax
from ..importers import UnknownSizes
from ..request.request import Request


def read_sizes(request: Request) -> UnknownSizes:
    """The sizes that *request* tells.

    Raises:
        CommandError: an argument is no size, or what is fed cannot be read.
    """
    named = {}
    for pair in request.run.arg:
        name, equals, size = pair.partition("=")
        if not equals or not size.isdecimal():
            raise CommandError(
                f"--arg {pair}: a saved model takes sizes of what is fed", "--arg NAME=SIZE, a number, 0 or more"
            )
        named[name] = int(size)
    return UnknownSizes(named, _shapes(request))


def _shapes(request: Request) -> dict[str | None, tuple[int, ...]]:
    arrays, file = request.inputs.arrays, request.inputs.feed
    if arrays is None and file is not None:
        arrays = row_syntax.take(file) if row_syntax.is_of_rows(file) else _arrays(file)
    return {name: tuple(array.shape) for name, array in (arrays or {}).items()}


def _arrays(file: str) -> dict[str | None, Any]:
    """The arrays in a file; none where there is no such file, which whoever feeds them says."""
    if not os.path.isfile(file):
        return {}
    from ..data import npz

    with npz.report_errors(file) as fail:
        return npz.map_arrays(file, fail)
