"""Rows of a sweep: the schema by which rows that were written are read back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..core.errors import FileFormatError
from ..files import schema
from ..files.schema import COUNT, NULL, SIZE, TEXT, WHOLE, Either, ListSchema, Shape, TableSchema, ValueSchema, or_null
from .point_rows import STATUSES
from .summaries import KINDS

HINT: Final = "--resume takes what --results wrote; without it, and with another file, the sweep begins anew"

_SOURCE: Final = or_null(TEXT)

_ANSWERS: Final[Mapping[str, Shape]] = {
    "nan": TableSchema(
        {
            "births": ListSchema(
                TableSchema(
                    {
                        **dict.fromkeys(("kind", "part", "operator", "tensor", "cause"), TEXT),
                        **dict.fromkeys(("bad", "elements"), COUNT),
                        "source": _SOURCE,
                        "step": or_null(WHOLE),
                    }
                )
            ),
            "victims": ListSchema(TEXT),
            "absorbed": COUNT,
            "unchecked": ListSchema(TEXT),
        }
    ),
    "stats": TableSchema(
        {
            "norm": or_null(SIZE),
            "nonfinite": COUNT,
            "by": TEXT,
            "lines": ListSchema(
                TableSchema(
                    {
                        **dict.fromkeys(("name", "verdict"), TEXT),
                        **dict.fromkeys(("norm", "ratio"), or_null(SIZE)),
                        **dict.fromkeys(("zeros", "nonfinite", "elements"), or_null(COUNT)),
                    }
                )
            ),
        }
    ),
    "why": TableSchema(
        {
            "verdicts": ListSchema(
                TableSchema(
                    {
                        **dict.fromkeys(("name", "verdict", "label"), TEXT),
                        "source": _SOURCE,
                        "also": ListSchema(TEXT),
                    }
                )
            ),
            "asked": COUNT,
        }
    ),
    "gradcheck": TableSchema(
        {
            "checked": COUNT,
            "error": or_null(SIZE),
            "not_ok": ListSchema(
                TableSchema(
                    {**dict.fromkeys(("name", "status", "cause"), TEXT), "order": COUNT, "error": or_null(SIZE)}
                )
            ),
        }
    ),
    "check": TableSchema(
        {
            "findings": ListSchema(
                TableSchema(
                    {**dict.fromkeys(("code", "rule", "severity", "subject", "message"), TEXT), "source": _SOURCE}
                )
            )
        }
    ),
    "backward": TableSchema(
        {
            **dict.fromkeys(("parameters", "with_gradient", "nonfinite"), COUNT),
            "without": ListSchema(TableSchema({**dict.fromkeys(("name", "status"), TEXT), "source": _SOURCE})),
            "norms": TableSchema(others=or_null(SIZE)),
        }
    ),
    "saved": TableSchema(dict.fromkeys(("bytes", "peak", "buffers", "held"), COUNT)),
}
assert _ANSWERS.keys() == KINDS.keys()

_ROWS: Final = ValueSchema(
    "two numbers of rows, the first and the one after the last",
    lambda v: isinstance(v, list) and len(v) == 2 and all(map(COUNT.accepts, v)) and v[0] < v[1],
)


def shape(question: str) -> TableSchema:
    """Return what a row with an answer to *question* is."""
    return TableSchema(
        {
            "key": TEXT,
            "question": schema.one_of(question),
            "model": TEXT,
            "seed": WHOLE,
            "set": TableSchema(others=TEXT),
            "feed": or_null(TEXT),
            "rows": Either(NULL, _ROWS),
            "status": schema.one_of(*STATUSES),
            "findings": COUNT,
            "answer": or_null(_ANSWERS[question]),
            **dict.fromkeys(("error", "hint", "stopped"), or_null(TEXT)),
        }
    )


_ANY: Final = TableSchema({"question": schema.one_of(*KINDS)}, others=schema.ANYTHING)


def read(data: bytes, place: str) -> dict[str, Any]:
    """Return the row that a line holds.

    Args:
        place: the file and the line, for messages.

    Raises:
        FileFormatError: it is none of a sweep.
    """
    row: dict[str, Any] = schema.read(data, place, _ANY, HINT)
    schema.check(row, place, shape(row["question"]), HINT)
    if row["answer"] is None and row["error"] is None:
        raise FileFormatError(place, "an answer, or the error in its place", "there is neither", hint=HINT)
    if row["rows"] is not None and row["feed"] is None:
        raise FileFormatError(place, "the file that rows are of", "it is null", hint=HINT)
    return row


def must_be_of(row: Mapping[str, Any], head: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a row of a file as that of a point, which its key stands for.

    Args:
        head: what a row of this point says of it.
        place: the file, for messages.

    Raises:
        FileFormatError: the row says that it is of another point: the key, or the rest, was changed.
    """
    for name in ("question", "seed", "set", "rows"):
        if row[name] != head[name]:
            raise FileFormatError(
                f"{place} (row {row['key']})",
                f"{name} {head[name]!r}, for which its key stands",
                f"it is {row[name]!r}",
                hint=HINT,
            )
    return {**row, **head}  # paths are as they are said now
