"""A sweep as one long table, a row for each point and line of its answer: CSV, Parquet, and what pandas reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

from gradtool.engine.sweeps.sweep import Swept

from ..views.sweep import describe_row

_FIRST: Final = {
    "key": str,
    "question": str,
    "model": str,
    "seed": int,
    "feed": str,
    "first_row": int,
    "after_row": int,
}
_REST: Final = {
    "status": str,
    "findings": int,
    "what": str,
    "name": str,
    "norm": float,
    "zeros": int,
    "nonfinite": int,
    "elements": int,
    "verdict": str,
}


def columns(answer: Swept) -> dict[str, type]:
    """Name of a column -> what it holds: the settings stand between the point and what came of it."""
    settings = {f"set.{setting.name}": str for setting in answer.axes.settings}
    return {**_FIRST, **settings, **_REST}


def rows(answer: Swept) -> Iterator[list[Any]]:
    """A row for each line of each point's answer; for a point whose answer has no lines, one."""
    for row in answer.rows:
        first, after = row["rows"] or (None, None)
        point = [row["key"], row["question"], row["model"], row["seed"], row["feed"], first, after]
        settings = [row["set"].get(setting.name) for setting in answer.axes.settings]
        came = [*point, *settings, row["status"], row["findings"], describe_row(row)]
        lines = (row["answer"] or {}).get("lines") or [{}]
        for line in lines:
            yield [*came, *(line.get(name) for name in ("name", "norm", "zeros", "nonfinite", "elements", "verdict"))]


def to_csv(answer: Swept) -> str:
    """Comma-separated values with a heading; nothing where there is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns(answer))
    writer.writerows(rows(answer))
    return text.getvalue()


def _encodable(value: Any) -> Any:
    """A value; of a text, what UTF-8 cannot say is escaped."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def to_parquet(answer: Swept) -> bytes:
    """The bytes of a Parquet file."""
    import pyarrow
    from pyarrow import parquet

    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    names = columns(answer)
    told = list(zip(*(map(_encodable, row) for row in rows(answer)), strict=True)) or [()] * len(names)
    arrays = [pyarrow.array(values, kinds[kind]) for values, kind in zip(told, names.values(), strict=True)]
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(arrays, [*names]), sink, compression="zstd")
    return sink.getvalue()
