"""Findings of the gate in every form: a file each, with a function ``text`` of the report.

=============  ==========================================================================================
concise.py     ``file:line:column: CODE message``, a line each: what editors read
full.py        the same with the line, the explanation and what would mend it
json.py        one object, with a schema
jsonl.py       an object a line
sarif.py       SARIF 2.1.0, with the rules' texts and fingerprints
junit.py       JUnit XML
github.py      annotations of a GitHub workflow; markdown.py is the summary of a step
gitlab.py      a GitLab code quality report
rdjson.py      reviewdog's diagnostics
tap.py         the Test Anything Protocol
badge.py       the outcome as a small image
=============  ==========================================================================================
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from gradtool.engine.gate.report import Report

from ..text import escape_sign, inert

_FOLDER = os.path.dirname(__file__)


@cache
def names() -> list[str]:
    """The names of the forms."""
    return sorted(f.removesuffix(".py") for f in os.listdir(_FOLDER) if f.endswith(".py") and f[0] != "_")


def render(report: Report, form: str) -> str:
    """The report in one of the forms.

    Args:
        form: one of :func:`names`.
    """
    text: str = importlib.import_module(f".{form}", __name__).text(report)
    return text if form in _OBEYED else inert(text, _ESCAPES.get(form, escape_sign))


_OBEYED: Final = ("github",)
"""Forms that are commands of pipelines, and escape what stands in them."""

_ESCAPES: Final[Mapping[str, Callable[[str], str]]] = {
    **dict.fromkeys(("gitlab", "json", "jsonl", "rdjson", "sarif"), lambda sign: f"\\u{ord(sign):04x}"),
    **dict.fromkeys(("badge", "junit"), lambda sign: f"&#{ord(sign)};"),
}
"""By form, how a character is escaped, where that is not as a text shows it."""
