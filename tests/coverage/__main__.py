"""Which of Paddle's public names gradtool has.

::

    python -m tests.coverage [NAMESPACE …]       counts; of the namespaces that are named, every name that is lacking
    python -m tests.coverage --renew             writes not_yet.txt, after names have come
    python -m tests.coverage --record PYTHON     records the names anew, with an interpreter that has Paddle 3.3.1
    python -m tests.coverage --record-modules PYTHON PYTHON
                                                 records those of all modules, with 3.1.1 and 3.3.1, the newest last
"""

from __future__ import annotations

import argparse
import subprocess
import textwrap
from collections import defaultdict

from . import modules, names, record


def table() -> str:
    """Counts by namespace."""
    rows = [("namespace", "Paddle", "have", "lack", "not here")]
    for space in names.spaces():
        counts = len(space.names), len(space.have), len(space.lack), len(space.reasons)
        rows.append((space.path, *(str(n) for n in counts)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        " ".join([first.ljust(widths[0]), *(c.rjust(w + 1) for c, w in zip(cells, widths[1:], strict=True))])
        for first, *cells in rows
    )


def listing(space: names.Space) -> str:
    """What is lacking in one namespace: the names, and those that are not to come with their reasons."""
    groups = defaultdict(list)
    for name in space.lack:
        groups["not yet"].append(name.removeprefix(space.path + "."))
    for name, why in space.reasons.items():
        groups[why].append(name)
    lines = [space.path]
    for why, lacking in groups.items():
        lines.append(f"  {why}:")
        lines += textwrap.wrap(" ".join(lacking), 116, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.coverage", description="Which of Paddle's public names gradtool has.")
    parser.add_argument("namespaces", nargs="*", metavar="NAMESPACE", help="list what is lacking in it")
    parser.add_argument("--renew", action="store_true", help="write not_yet.txt")
    parser.add_argument("--record", metavar="PYTHON", help="record Paddle's names with this interpreter")
    parser.add_argument("--record-modules", nargs="+", metavar="PYTHON", help="record the names of all modules")
    options = parser.parse_args()
    if options.record_modules:
        modules.renew(options.record_modules)
    if options.record:
        subprocess.run([options.record, record.__file__], check=True)
    if options.renew:
        names.renew()
    print(table())
    for space in names.spaces():
        if space.path in options.namespaces:
            print("\n" + listing(space))


if __name__ == "__main__":
    main()
