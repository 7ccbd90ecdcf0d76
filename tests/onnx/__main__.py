"""How many of the standard's node tests gradtool passes: ``python -m tests.onnx --nodes``."""

from __future__ import annotations

import argparse
from collections import Counter

from tests.onnx import nodes


def main() -> None:
    """Print the counts, and with ``-v`` every case that did not pass."""
    parser = argparse.ArgumentParser(prog="python -m tests.onnx", description=__doc__)
    parser.add_argument("--nodes", action="store_true", help="run the node tests of the standard")
    parser.add_argument("-k", default="", metavar="TEXT", help="only cases whose name holds it")
    parser.add_argument("-v", action="store_true", help="say why each of the others did not pass")
    asked = parser.parse_args()
    if not asked.nodes:
        parser.error("say what to run: --nodes")
    counts: Counter[str] = Counter()
    for case in nodes.outcomes(asked.k):
        counts[case.what] += 1
        if asked.v and case.what != nodes.PASSED:
            print(f"{case.what:12}  {case.kind:24}  {case.name}: {case.why[:200]}")
    eligible = counts[nodes.PASSED] + counts[nodes.DIFFERS] + counts[nodes.REFUSED]
    told = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))
    share = 100 * counts[nodes.PASSED] / max(eligible, 1)
    print(f"{nodes.table()} operators; {sum(counts.values())} cases: {told}")
    print(f"of the {eligible} whose operators and types gradtool has, {share:.1f} % pass")


if __name__ == "__main__":
    main()
