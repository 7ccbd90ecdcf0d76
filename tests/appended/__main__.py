"""Which of the types of Paddle's operators gradtool has.

::

    python -m tests.appended [--list]            counts by reason; with --list, the types
    python -m tests.appended --record PYTHON [TYPE ...]
                                                 records the registry and all calls anew, or the calls of these types,
                                                 with an interpreter that has Paddle 3.1.1
"""

from __future__ import annotations

import argparse
import textwrap
from collections import defaultdict

from . import listed, recording


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.appended", description="Which types of Paddle's operators are here.")
    parser.add_argument("--list", action="store_true", help="the types themselves")
    parser.add_argument("--record", metavar="PYTHON", help="record Paddle's registry and calls with this interpreter")
    parser.add_argument("types", nargs="*", metavar="TYPE", help="record the calls of these types only")
    options = parser.parse_args()
    if options.record:
        recording.renew(options.record, options.types)
    groups: dict[str, list[str]] = defaultdict(list)
    groups["have"] = listed.have()
    groups["to come"] = listed.lack()
    for type_, why in listed.reasons().items():
        groups[why].append(type_)
    for why, types in groups.items():
        print(f"{len(types):4}  {why}")
        if options.list:
            print("\n".join(textwrap.wrap(" ".join(types), 110, initial_indent=" " * 6, subsequent_indent=" " * 6)))


if __name__ == "__main__":
    main()
