"""Random programs, run by gradtool and by Paddle, and where the two differ.

::

    python -m tests.differential [COUNT [SEED]] --peer PYTHON [--mode eager|static] [--form single|chain] [--only NAME]

``PYTHON`` is an interpreter that has Paddle: 3.3.1 for eager mode, 3.1.1 for static mode. Printed are the counts, then
of each class of differences (kind and function) how often it came and the shortest program.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .comparing import Difference, difference, function
from .decided import reason_of
from .peers import OURS, Peer
from .programs import drawn
from .slopes import verdict


class Findings:
    """What a run counts and keeps."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self.decided: Counter[str] = Counter()
        self.classes: Counter[tuple[str, str]] = Counter()
        self.shortest: dict[tuple[str, str], tuple[str, Difference]] = {}

    def add(self, text: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
        self.count(text, theirs)
        gap = difference(text, ours, theirs)
        if gap is None:
            self.counts["refused by both" if theirs["refused"] else "equal"] += 1
            return
        reason = reason_of(text, gap) or by_differences(text, gap, ours, theirs)
        if reason:
            self.counts["decided"] += 1
            self.decided[reason] += 1
            return
        self.counts["open"] += 1
        self.classes[gap.class_] += 1
        if gap.class_ not in self.shortest or len(text) < len(self.shortest[gap.class_][0]):
            self.shortest[gap.class_] = text, gap

    def count(self, text: str, theirs: dict[str, Any]) -> None:
        calls = [line for line in text.splitlines()[1:] if " = tensor(" not in line and " = filled(" not in line]
        self.counts["programs"] += 1
        self.counts["calls"] += sum(" = " in line for line in calls)
        self.counts["compared values"] += len(theirs["values"])
        self.counts["compared gradients"] += len(theirs["grads"])
        self.counts["compared operators"] += len(theirs.get("ops", []))
        self.functions.update(function(line) for line in text.splitlines() if line.startswith("v"))

    def report(self, functions: bool) -> str:
        lines = [f"{count:8} {name}" for name, count in self.counts.items()]
        lines += [f"{count:8} decided: {name}" for name, count in self.decided.most_common()]
        if functions:
            lines += [f"{count:8} {name}" for name, count in sorted(self.functions.items())]
        for class_, count in sorted(self.classes.items(), key=lambda item: (-item[1], item[0])):
            text, gap = self.shortest[class_]
            lines += ["", f"{count} x {gap.kind} of {gap.function} at {gap.where}"]
            lines += [
                f"    ours   {gap.ours}",
                f"    theirs {gap.theirs}",
                *(f"    {line}" for line in text.splitlines()),
            ]
        return "\n".join(lines)


def by_differences(text: str, gap: Difference, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """A reason where it is gradients that differ, and differences support gradtool's alone or, at a kink, neither."""
    if not gap.kind.startswith("grads "):
        return ""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            supported = verdict(text, ours, theirs)
    except Exception:  # the program could not be run in float64: nothing is said
        return ""
    if supported == "both":
        return f"a kink: differences to both sides disagree where the gradients do ({gap.function})"
    return f"differences support gradtool's gradients alone ({gap.function})" if supported == "ours" else ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--peer", required=True, help="a Python that has Paddle")
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--form", choices=("single", "chain"), default="single")
    parser.add_argument("--only", default="", help="a function of the table")
    parser.add_argument("--functions", action="store_true", help="print how often each function was called")
    parser.add_argument("--answers", type=Path, help="a file that gets every program with both answers, a line each")
    options = parser.parse_args()
    ours, theirs = Peer(sys.executable, OURS), Peer(options.peer, "paddle")
    findings = Findings()
    log = options.answers.open("w", encoding="utf-8") if options.answers else None
    for seed in range(options.seed, options.seed + options.count):
        text = drawn(seed, options.mode, options.form, options.only)
        answers = ours.ask(text), theirs.ask(text)
        findings.add(text, *answers)
        if log:
            log.write(json.dumps([text, *answers]) + "\n")
    ours.stop()
    theirs.stop()
    if log:
        log.close()
    print(findings.report(options.functions))


if __name__ == "__main__":
    main()
