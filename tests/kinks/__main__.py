"""Derivatives of all operators and functions at ties and kinks, against differences.

::

    python -m tests.kinks [--seeds COUNT] [--first SEED] [--only NAME]
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

import gradtool
from gradtool.engine.ops import registry
from tests.differential import rows  # noqa: F401  (fills the table)
from tests.differential.table import ROWS
from tests.kinks import functions, operators
from tests.kinks.judging import Subject, wrong
from tests.kinks.known import CHOOSING, KNOWN
from tests.ops.cases import BY_HAND


def points(name: str, seeds: Iterable[int]) -> list[tuple[str, Callable[[], Subject | None]]]:
    """The points of the operator or the function of one name: labels, and what makes the subject at each.

    That gives None where the operands are refused.
    """
    if name in ROWS:
        return [(f"{name} {seed}", partial(functions.subject, name, seed)) for seed in seeds]
    cases = operators.cases(registry.get_by_type(name))
    return [(label, partial(operators.subject, case, made)) for label, case, made in cases]


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
    parser.add_argument("--first", type=int, default=0, help="the first seed; operators are taken where it is 0")
    parser.add_argument("--only", default="", help="an operator or a function")
    options = parser.parse_args()
    gradtool.paddle.disable_static()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    seeds = range(options.first, options.first + options.seeds)
    for name in [options.only] if options.only else names():
        if options.first and name not in ROWS:
            continue
        for label, make in points(name, seeds):
            subject = make()
            if subject is None:
                continue
            counts["points"] += 1
            try:
                found = list(wrong(subject, name in CHOOSING))
            except Exception as error:
                counts["refused"] += 1
                if not isinstance(error, ValueError) and options.only:
                    print(label, repr(error))
                continue
            for entry in found[:1]:
                reason = KNOWN.get(name)
                counts["known" if reason else "wrong"] += 1
                if not reason:
                    print(f"{label}\n{getattr(subject, 'text', '')}\n    {entry}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
