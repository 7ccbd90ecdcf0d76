"""Derivatives of all operators and functions at ties and kinks, against differences.

::

    python -m tests.kinks [--seeds COUNT] [--only NAME]
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np

import gradtool
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.ops import registry
from tests.differential import rows  # noqa: F401  (fills the table)
from tests.differential.table import ROWS
from tests.kinks import functions, operators
from tests.kinks.judging import Subject, wrong
from tests.kinks.known import KNOWN
from tests.ops.cases import BY_HAND


def subjects(name: str, seeds: int) -> Iterator[tuple[str, Subject]]:
    """The operator or the function of one name, at each of its points."""
    if name in ROWS:
        for label, text in functions.cases(name, seeds):
            try:
                yield f"{label}\n{text}", functions.Called(text)
            except ValueError:  # refused
                continue
        return
    for label, case, made in operators.cases(registry.by_type(name)):
        try:
            yield label, operators.AtKink(case, operators.MADE[made])
        except (GradtoolError, np.linalg.LinAlgError):  # refused there
            continue


def names() -> list[str]:
    """All operators with a gradient rule, and all functions that are drawn."""
    ops = [
        op.type
        for op in registry.all_ops()
        if op.infers and op.type not in BY_HAND and op.rule is not None and op.forward is None and not op.has_effect
    ]
    return [*ops, *(name for name, row in ROWS.items() if "eager" in row.modes and row.chains)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.kinks", description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="calls of each function that are drawn")
    parser.add_argument("--only", default="", help="an operator or a function")
    options = parser.parse_args()
    gradtool.disable_static()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for name in [options.only] if options.only else names():
        for label, subject in subjects(name, options.seeds):
            counts["points"] += 1
            try:
                found = list(wrong(subject))
            except Exception as error:
                counts["refused"] += 1
                if not isinstance(error, ValueError) and options.only:
                    print(label, repr(error))
                continue
            for entry in found[:1]:
                reason = KNOWN.get(name)
                counts["known" if reason else "wrong"] += 1
                if not reason:
                    print(f"{label}\n    {entry}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
