"""Counting operators by the types that they compute with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from gradtool.engine.core import watch
from gradtool.engine.core.spec import dtype as convert

COLUMNS = ("float16", "bfloat16", "float32")
"""The types with a column of their own; anything else is counted together."""

WIDTH = 120
HEAD = (
    "<--------------- Op Name ---------------- | -- FP16 Calls --- | -- BF16 Calls --- | --- FP32 Calls--- | "
    "-- Other Calls -->"
)

_counts: dict[str, Counter[int]] = {}
_counting = ExitStack()


def enable_operator_stats_collection() -> None:
    """Count the operators that are computed from now on."""
    _counting.close()
    _counts.clear()
    _counting.enter_context(watch.watch(by=_count))


def disable_operator_stats_collection() -> None:
    """Stop counting, and print how many there were by type."""
    _counting.close()
    print(_table())


@contextmanager
def collect_operator_stats() -> Iterator[None]:
    """Count inside, and print at the end.

    >>> from gradtool import paddle
    >>> x = paddle.ones([2, 2])
    >>> with paddle.amp.debugging.collect_operator_stats():  # doctest: +ELLIPSIS
    ...     product = x @ x
    <---... op list ...
    """
    enable_operator_stats_collection()
    try:
        yield
    finally:
        disable_operator_stats_collection()


def _count(event: Any) -> None:
    if isinstance(event, watch.Computed):
        row = _counts.setdefault(event.op.type, Counter())
        row[_column(event)] += 1


def _column(event: watch.Computed) -> int:
    """Return the column of the first floating-point operand, or of the result where there is none."""
    for value in (*event.inputs, *event.outputs):
        array = value[0] if isinstance(value, (list, tuple)) and value else value
        name = convert(array.dtype).name if hasattr(array, "dtype") else ""
        if name in COLUMNS:
            return COLUMNS.index(name)
        if name:
            return len(COLUMNS)
    return len(COLUMNS)


def _table() -> str:
    lines = [
        f"<{' op list ':-^{WIDTH}}>",
        HEAD,
    ]
    for name in sorted(_counts):
        cells = (f"  {_counts[name][column]:<17}" for column in range(len(COLUMNS) + 1))
        lines.append(f"  {name:<40}|{'|'.join(cells)}")
    lines.append(f"<{f' op count: {len(_counts)} ':-^{WIDTH}}>\n")
    return "\n".join(lines)
