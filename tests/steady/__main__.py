"""Ask about scripts with dropout many times: ``python -m tests.steady [--runs N] [--question check] [NAME …]``."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from . import answers, names


def main() -> int:
    """Print how many answers each script has; scripts of PyTorch need torch."""
    parser = argparse.ArgumentParser(prog="python -m tests.steady", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="how often a script is asked about")
    parser.add_argument("--question", default="check", help="the command that asks, with its options")
    parser.add_argument("names", nargs="*", help="scripts without .py; all where none is named")
    options = parser.parse_args()
    chosen = options.names or [n for n in names() if not n.startswith("torch_") or find_spec("torch") is not None]
    unsteady = 0
    for name in chosen:
        told = answers(name, range(options.runs), options.question)
        unsteady += len(told) > 1
        print(f"{name:<24} {options.runs} runs, {len(told)} answer{'s' if len(told) > 1 else ''}", flush=True)
        for text, times in told.items() if len(told) > 1 else ():
            print(f"--- {times} times\n{text}")
    return int(unsteady > 0)


if __name__ == "__main__":
    sys.exit(main())
