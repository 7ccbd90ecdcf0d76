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
from functools import cache

from gradtool.models.gate.report import Report

_FOLDER = os.path.dirname(__file__)


@cache
def names() -> list[str]:
    """The names of the forms."""
    return sorted(f.removesuffix(".py") for f in os.listdir(_FOLDER) if f.endswith(".py") and f[0] != "_")


def rendered(report: Report, form: str) -> str:
    """The report in one of the forms.

    Args:
        form: one of :func:`names`.
    """
    text: str = importlib.import_module(f".{form}", __name__).text(report)
    return text
