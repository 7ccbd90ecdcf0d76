"""Run scripts plainly and under every question, and count what differs: ``python -m tests.transparent``.

PyTorch scripts are compared with the plain interpreter, Paddle scripts with the engine while nothing is watched.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence

from .running import PLAIN, QUESTIONS, Outcome, Runner, compare, peer_of
from .staging import KINDS, Script, scripts, spread


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code is 1 when something differs."""
    options = _parser().parse_args(words)
    kinds = options.kind or list(KINDS)
    if "torch" in kinds and options.torch == sys.executable and importlib.util.find_spec("torch") is None:
        print(
            "torch is not installed here: --torch PYTHON names an interpreter that has it, --kind paddle does without"
        )
        return 2
    chosen = scripts(kinds)
    if options.names:
        chosen = [s for s in chosen if any(part in s.name for part in options.names)]
    if options.sample is not None:
        chosen = spread(chosen, options.sample)
    with Runner(options.torch) as runner:
        return _run(runner, chosen, options.question or list(QUESTIONS))


def _run(runner: Runner, chosen: Sequence[Script], questions: Sequence[str]) -> int:
    differing = repeated = uncompiled = asked = 0
    for number, script in enumerate(chosen, 1):
        plains: dict[str, Outcome] = {}
        lines = []
        for question in questions:
            outcome = runner.run(script, question)
            asked += 1
            repeated += len(outcome.records) > 1
            peer = peer_of(outcome)
            uncompiled += peer != PLAIN
            if peer not in plains:
                plains[peer] = runner.run(script, peer)
            found = compare(plains[peer], outcome)
            differing += bool(found)
            lines += [f"  {question:9} {line}" for line in found]
        print(f"{number}/{len(chosen)} {script.name}" + ("" if lines else "  same"), *lines, sep="\n", flush=True)
    print(
        f"{len(chosen)} scripts under {len(questions)} questions: {asked} runs, {differing} differ, "
        f"{repeated} ran the script more than once, {uncompiled} said that nothing was compiled"
    )
    return int(differing > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.transparent", description=__doc__)
    parser.add_argument("--kind", action="append", choices=KINDS, help="scripts of one framework")
    parser.add_argument("--question", action="append", choices=list(QUESTIONS), help="one question; all without it")
    parser.add_argument("--sample", type=int, metavar="N", help="N scripts, spread over all of them")
    parser.add_argument("--torch", default=sys.executable, metavar="PYTHON", help="interpreter that has torch")
    parser.add_argument("names", nargs="*", help="parts of the scripts' paths")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
