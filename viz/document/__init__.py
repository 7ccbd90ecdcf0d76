"""Documents: reports and debugger sessions as one HTML file, a notebook, Markdown or a batch script.

``blocks`` says what a document consists of; ``to_html``, ``to_ipynb`` and ``to_markdown`` are pure functions of it, and
``to_script`` of a session's cells. ``session`` makes a document of a session and reads saved ones.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .html import to_html
    from .ipynb import to_ipynb
    from .markdown import to_markdown
    from .script import to_script

__all__ = ["to_html", "to_ipynb", "to_markdown", "to_script"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gradtool.viz.document' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{name.removeprefix('to_')}", __name__), name)
