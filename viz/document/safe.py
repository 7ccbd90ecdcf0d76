"""HTML of other origin as HTML that can do nothing: cells of a session may come from a file."""

from __future__ import annotations

from collections import Counter
from html import escape
from html.parser import HTMLParser
from typing import Final

from .text import plain

_NAMES: Final = """
b br caption code dd div dl dt em figcaption figure h3 h4 h5 h6 hr i kbd li mark ol p pre s samp small span strong sub
sup table tbody td tfoot th thead tr u ul
"""
_ELEMENTS: Final = frozenset(_NAMES.split())
_VOID: Final = frozenset({"br", "hr"})
_ATTRIBUTES: Final = frozenset({"scope", "colspan", "rowspan", "title"})
_SILENT: Final = frozenset(
    {"script", "style", "template", "iframe", "object", "noscript", "svg", "math", "head", "title"}
)
"""Elements that are left out together with what stands in them."""


def harmless(html: str) -> str:
    """*html* with the elements that tables and text consist of, and nothing else: no links, scripts, forms or styles.

    Every element that is opened is closed, so that what comes after it is as it would be without.
    """
    reader = _HtmlReader()
    reader.feed(html)
    reader.close()
    return reader.text()


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        self._silent: list[str] = []

    def text(self) -> str:
        """Return what was read, with everything closed."""
        return "".join(self._parts) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _ELEMENTS and not self._silent:
            attributes = "".join(
                f' {name}="{escape(plain(value or ""))}"' for name, value in attrs if name in _ATTRIBUTES
            )
            self._parts.append(f"<{tag}{attributes}>")
            if tag not in _VOID:
                self._open.append(tag)
                self._counts[tag] += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _SILENT:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
        elif self._counts[tag]:
            while True:
                last = self._open.pop()
                self._counts[last] -= 1
                self._parts.append(f"</{last}>")
                if last == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._parts.append(escape(plain(data)))
