"""The notebook that runs this process, if one does."""

from __future__ import annotations

import importlib
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Page(Protocol):
    """Object that shows itself in notebooks and can be saved as a page."""

    def save(self, path: Path, /) -> None: ...


def present(page: Page, name: str) -> None:
    """Show *page* below the cell of a notebook, elsewhere in the browser, in a new folder under *name*."""
    display = notebook_display()
    if display is not None:
        display(page)
        return
    file = Path(tempfile.mkdtemp(prefix="gradtool-"), name)
    page.save(file)
    webbrowser.open(file.as_uri())


def notebook_display() -> Callable[[Any], Any] | None:
    """IPython's ``display`` inside a notebook; IPython is never imported for it."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    if running is None or not hasattr(running, "kernel"):
        return None
    return importlib.import_module("IPython.display").display  # type: ignore[no-any-return]
