"""The files that a training is written to, by their endings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gradtool.engine.questions.over_time import Training

from .heat import svg
from .long_form import to_csv, to_parquet

FORMS: Final[dict[str, Callable[[Training], str | bytes]]] = {".svg": svg, ".csv": to_csv, ".parquet": to_parquet}
"""Ending of a file -> what is written to it."""
