"""A session at the prompt over a small run, for tests that type: ``python -m tests.viz.debugger.prompt_driver``."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

from gradtool.viz.debugger.terminal import interact
from tests.viz.debugger.frontend_runs import book_over, hunt, recorded


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--history", type=Path)
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--catch", action="store_true")
    options = parser.parse_args()
    book = book_over(recorded(hunt))
    if options.catch:
        book.session.add("catch", "nan", limit=math.inf)
        book.session.begin()
    return interact(book, history=options.history, ascii_only=options.ascii)


if __name__ == "__main__":
    sys.exit(main())
