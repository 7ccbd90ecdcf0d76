"""The table of rows: type of an operator -> a function that writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = Callable[[Any], Any]

TABLE: dict[str, Row] = {}


def writes(*types: str) -> Callable[[Row], Row]:
    """Have the function below write operators of these types."""

    def register(function: Row) -> Row:
        TABLE.update(dict.fromkeys(types, function))
        return function

    return register
