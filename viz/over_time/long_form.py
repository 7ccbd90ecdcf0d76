"""A training as one long table, a row for each parameter and step: CSV, Parquet, and what pandas reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, Final

from gradtool.engine.answers.over_time.history import HistoryPoint, TrainingStep
from gradtool.engine.core.command_errors import PackageNeeded
from gradtool.engine.questions.over_time import Row, Training

COLUMNS: Final = {
    "step": int,
    "backward": int,
    "name": str,
    "norm": float,
    "zeros": int,
    "nonfinite": int,
    "elements": int,
    "passes": int,
    "weight": float,
    "update": float,
    "ratio": float,
    "clipped": float,
    "changed": float,
    "loss": float,
    "learning_rate": float,
}
"""Name of a column -> what it holds; all but ``step`` and ``name`` may be empty. Their meaning is that of the JSON."""


def rows(answer: Training) -> Iterator[tuple[Any, ...]]:
    """A row for each step and parameter (or layer), step by step; None where there is nothing."""
    for i, step in enumerate(answer.history.steps):
        for row in answer.rows:
            yield _row(step, row, row.points[i])


def _row(step: TrainingStep, row: Row, p: HistoryPoint | None) -> tuple[Any, ...]:
    whole = (step.loss, step.rate)
    if p is None:
        return (step.number, step.passes[-1].number if step.passes else None, row.name, *[None] * 10, *whole)
    g = p.gradient
    sizes = (g.norm, g.zeros, g.nonfinite, g.elements, p.passes)
    return (step.number, p.backward, row.name, *sizes, p.weight, p.update, p.ratio, p.clipped, p.changed, *whole)


def to_csv(answer: Training) -> str:
    """Comma-separated values with a heading; nothing where there is none, ``nan`` where a number is none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(answer))
    return text.getvalue()


def to_parquet(answer: Training) -> bytes:
    """The bytes of a Parquet file.

    Raises:
        CommandError: pyarrow is not installed.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise PackageNeeded("Parquet needs pyarrow", "pip install 'gradtool[parquet]', or write .csv") from None
    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    columns = zip(*rows(answer), strict=True)
    fields = [(name, kinds[kind]) for name, kind in COLUMNS.items()]
    table = pyarrow.table([pyarrow.array(c, kind) for c, (_, kind) in zip(columns, fields, strict=True)], [*COLUMNS])
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()
