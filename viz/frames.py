"""Answers as pandas' tables: a row for each thing that the answer is about, numbers as numbers."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from gradtool.engine.core.answer import Answered
from gradtool.engine.core.errors import UnsupportedError
from gradtool.engine.core.wording import NOTHING

from .table import TextTable


def frame(result: Any, tables: Sequence[TextTable]) -> Any:
    """The ``DataFrame`` of a result: of what its JSON lists, where that has some, else of its first table.

    An object in the list has a column for each of its members (``source.file``).

    Raises:
        UnsupportedError: pandas is not installed, or there are no rows (a ValueError).
    """
    columns = _columns(result, tables)
    try:
        pandas = importlib.import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise UnsupportedError(
            "to_pandas: pandas is not installed.", hint="pip install pandas; .data needs nothing"
        ) from None
    return pandas.DataFrame(columns)


def _columns(result: Any, tables: Sequence[TextTable]) -> dict[str, list[Any]]:
    """Heading -> cells."""
    if isinstance(result, Answered):
        from .results import view

        shown = view(result)
        if shown.records:
            return _record_columns(shown.data[shown.records])
        if shown.table is not None:
            return _table_columns(shown.table.headings, shown.table.rows)
    if not tables:
        raise UnsupportedError(
            f"to_pandas: {type(result).__name__} has no rows.", hint="print it, or look at its attributes"
        )
    return _table_columns(tables[0].headings, tables[0].rows)


def _table_columns(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[str, list[Any]]:
    cells = [*zip(*rows, strict=True)] or [()] * len(headings)
    return {heading: _parse_column(column) for heading, column in zip(headings, cells, strict=True)}


def _record_columns(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    flat = [_flat(r) for r in records]
    headings = dict.fromkeys(heading for row in flat for heading in row)
    # An object that is missing in one row has no column of its own where others have its members.
    whole = [h for h in headings if not any(other.startswith(f"{h}.") for other in headings)]
    return {heading: [row.get(heading) for row in flat] for heading in whole}


def _flat(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Objects in objects as members with dots in their names; lists stay lists."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{name}.")
        else:
            flat[before + name] = value
    return flat


def _parse_column(column: Sequence[str]) -> list[Any]:
    """Cells as numbers where all of them are, None for those that hold nothing."""
    cells = [None if cell == NOTHING else cell for cell in column]
    try:
        return [None if cell is None else float(cell) for cell in cells]
    except ValueError:
        return [*cells]
