"""The files that a sweep is written to, by their endings."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Final

from gradtool.engine.core.command_errors import PackageNeeded
from gradtool.engine.sweeps.journal import line
from gradtool.engine.sweeps.sweep import Swept

from .long_form import to_csv, to_parquet
from .page import html
from .picture import svg


def to_lines(answer: Swept) -> str:
    """A line of JSON for each row, in the order of the points."""
    return "".join(map(line, answer.rows))


FORMS: Final[dict[str, Callable[[Swept], str | bytes]]] = {
    ".jsonl": to_lines,
    ".csv": to_csv,
    ".parquet": to_parquet,
    ".svg": svg,
    ".html": html,
}
"""Ending of a file -> what is written to it."""


def must_be_there(form: str) -> None:
    """Raise :class:`CommandError` where a library that a form needs is not installed."""
    if form == ".parquet" and find_spec("pyarrow") is None:
        raise PackageNeeded("Parquet needs pyarrow", "pip install 'gradtool[parquet]', or write .csv")
