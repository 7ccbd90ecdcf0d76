"""Saving: the ending of a file says what is written to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from gradtool.engine.core.errors import UsageError, did_you_mean
from gradtool.engine.files.writing import write_files

Form = Callable[[Any], str | bytes]


def save(what: Any, path: str | os.PathLike[str], forms: Mapping[str, Form], example: str) -> None:
    """Write *what* to a file, whole or not at all.

    Args:
        forms: by ending, what makes the file's content of it.
        example: a file name that would do, for the hint.

    Raises:
        UsageError: there is no form for the ending (a ValueError).
        OSError: the file cannot be written.
    """
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].lower()
    form = forms.get(ending)
    if form is None:
        raise UsageError(
            f"{type(what).__name__}.save: cannot tell from {name!r} what to write: "
            f"its ending must be one of {', '.join(forms)}.",
            hint=did_you_mean(ending, forms) or f"save({example!r})",
        )
    content = form(what)
    write_files({name: content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content})
