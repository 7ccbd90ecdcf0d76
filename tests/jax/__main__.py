"""Which operators do not compute on JAX what they compute on NumPy: ``python -m tests.jax [--all] [OPERATOR…]``.

The tests take the first sample of each operator in float64; with ``--all`` every sample is taken, in each type.
"""

from __future__ import annotations

import argparse
import sys
import traceback

from . import conftest as conftest


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.jax", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every sample, in each type")
    parser.add_argument(
        "--specs", action="store_true", help="every sample, but only shapes and types: nothing is compiled"
    )
    parser.add_argument("--zoo", action="store_true", help="the models of the zoo; names choose some of them")
    parser.add_argument("--trace", action="store_true", help="the whole traceback of each failure")
    parser.add_argument("operators", nargs="*", help="types of operators; all of them when none is named")
    chosen = parser.parse_args()
    # Imported here: JAX reads its settings when it is first imported.
    if chosen.zoo:
        from tests.zoo.measured import NAMES

        from .zoo import compared

        outcomes = [compared(name) for name in chosen.operators or NAMES]
        for o in outcomes:
            print(f"{o.name:<24}{o.operators:>6}{o.computed:>6} {o.furthest:9.3g}", *o.differences[:4], sep="  ")
        return 1 if any(o.differences for o in outcomes) else 0
    from .compared import all_differences, differences, operators

    failed = tried = 0
    for op in operators():
        if chosen.operators and op.type not in chosen.operators:
            continue
        tried += 1
        for label, error in all_differences(op, chosen.specs) if chosen.all or chosen.specs else differences(op):
            failed += 1
            print(f"{label} | {_told(error)}", flush=True)
            if chosen.trace:
                traceback.print_exception(error)
    print(f"{failed} differences in {tried} operators")
    return 1 if failed else 0


def _told(error: Exception) -> str:
    """The first line of the error, and the line of an operator's definition that it comes from."""
    lines = [f for f in traceback.extract_tb(error.__traceback__) if "/ops/library/" in f.filename]
    place = f" @ {lines[-1].filename.split('/')[-1]}:{lines[-1].lineno} {lines[-1].line}" if lines else ""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}{place}"


if __name__ == "__main__":
    sys.exit(main())
