"""Forms that a document is written in, by the endings of their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from .blocks import Document
from .html import to_html
from .ipynb import to_ipynb
from .markdown import to_markdown

FORMS: Final[Mapping[str, Callable[[Document], str]]] = {"html": to_html, "ipynb": to_ipynb, "md": to_markdown}
