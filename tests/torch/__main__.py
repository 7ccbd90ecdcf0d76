"""Record the scripts of the corpus where torch is installed, and compare what is answered live with what is answered
from the files: ``python -m tests.torch [--record] [NAME …]``."""

from __future__ import annotations

import argparse

from .answers import CORPUS, RUNS, answered, expected, judged, names, record, rules_expected, rules_found


def main() -> int:
    """Record or check; the exit code is 1 when something is answered otherwise than expected."""
    parser = argparse.ArgumentParser(prog="python -m tests.torch", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the runs anew")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    wrong = 0
    for name in options.names or names():
        script = CORPUS / f"{name}.py"
        if options.record:
            RUNS.mkdir(exist_ok=True)
            record(script, RUNS / f"{name}.torchrun")
        live, wanted = answered(script), expected(script)
        again = answered(RUNS / f"{name}.torchrun")
        if name in judged():
            live, wanted = live + rules_found(script), wanted + rules_expected(script)
            again += rules_found(RUNS / f"{name}.torchrun")
        fine = live == wanted == again
        wrong += not fine
        print(f"{'ok   ' if fine else 'WRONG'} {name}  {live}" + ("" if fine else f"  wanted {wanted}  again {again}"))
    print(f"{wrong} of {len(options.names or names())} answered otherwise")
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
